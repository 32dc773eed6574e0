#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "answers/trial.hpp"

namespace diacut::testing {

/// A device buffer of `count` elements followed by a band that no kernel may read for a result or
/// write: NaN for floats, all bits set for integers. Fresh elements are filled alike, so one that a
/// kernel leaves out shows.
template <class T>
class Guarded {
 public:
  Guarded(Context& context, std::size_t count)
      : count_(count), buffer_(context.allocate<T>(count + kBand, "a guarded buffer")) {
    buffer_.upload(std::vector<T>(count + kBand, canary()));
  }
  Guarded(Context& context, const std::vector<T>& values) : Guarded(context, values.size()) {
    buffer_.upload(values);
  }

  Buffer<T>& operator*() { return buffer_; }
  const Buffer<T>& operator*() const { return buffer_; }

  /// The elements. Throws WrongAnswer if the band is not as it was.
  std::vector<T> values() const {
    std::vector<T> all = buffer_.download();
    const std::vector<T> band(kBand, canary());
    const auto found = std::as_bytes(std::span(all).subspan(count_));
    const auto left = std::as_bytes(std::span(band));
    Trial::require(std::equal(found.begin(), found.end(), left.begin(), left.end()),
                   "a kernel has written beyond the end of a buffer");
    all.resize(count_);
    return all;
  }

 private:
  static constexpr std::size_t kBand = 96;

  static T canary() {
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
      return std::numeric_limits<T>::quiet_NaN();
    } else {
      return static_cast<T>(~T{0});
    }
  }

  std::size_t count_;
  Buffer<T> buffer_;
};

/// Expects that no element is NaN: every one was written, from nothing that was out of bounds.
inline void expect_numbers(const std::vector<float>& values) {
  std::size_t missing = 0;
  for (const float value : values) missing += std::isnan(value) ? 1 : 0;
  EXPECT_EQ(missing, 0u) << "of " << values.size() << " elements are not numbers";
}

}  // namespace diacut::testing
