#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// What a check threw: the device's answer is not the one that is known.
class WrongAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sums of terms, and of their magnitudes, to which rounding errors are relative.
struct TermSums {
  std::vector<double> values;
  std::vector<double> magnitudes;

  explicit TermSums(std::size_t count) : values(count, 0.0), magnitudes(count, 0.0) {}
  /// Of one term each.
  explicit TermSums(const std::vector<float>& terms) : TermSums(terms.size()) {
    for (std::size_t i = 0; i < terms.size(); ++i) add(i, terms[i]);
  }
  void add(std::size_t at, double term) {
    values[at] += term;
    magnitudes[at] += std::abs(term);
  }
};

/// The sum of the products of a and b, and of their magnitudes.
std::pair<double, double> dot_product(std::span<const double> a, std::span<const double> b);

/// Where one check of a device computes, and how it compares. Buffers that it allocates hold no
/// numbers until they are written, so that a kernel that does nothing leaves no answer of an
/// earlier one behind. The numbers that it draws are the same in every run.
class Trial {
 public:
  static constexpr double kEps = std::numeric_limits<float>::epsilon();

  /// The context must outlive the trial.
  explicit Trial(Context& context) : context_(&context) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  Context& context() { return *context_; }

  /// Normally distributed numbers.
  std::vector<float> normal(std::size_t count);
  /// Numbers in [0, 1).
  std::vector<float> uniform(std::size_t count);

  Buffer<float> empty(std::size_t count) { return context_->allocate<float>(count, "values"); }
  template <class T>
  Buffer<T> uploaded(const std::vector<T>& values) {
    Buffer<T> buffer = context_->allocate<T>(values.size(), "values");
    buffer.upload(values);
    return buffer;
  }

  /// Holds each number found against the one that is expected: they may differ by `roundings`
  /// roundings of a float of that magnitude. Throws WrongAnswer naming `what`.
  void expect(std::string_view what, std::span<const float> found, std::span<const double> expected,
              std::span<const double> magnitude, double roundings);
  void expect(std::string_view what, std::span<const float> found, const TermSums& expected,
              double roundings) {
    expect(what, found, expected.values, expected.magnitudes, roundings);
  }
  /// Holds each number found against the one that is expected: they may differ by the number of
  /// the same place that says how far. Throws WrongAnswer naming `what`.
  void expect_within(std::string_view what, std::span<const float> found,
                     std::span<const double> expected, std::span<const double> allowed);
  /// Holds each number found against the one that is expected, with one tolerance for all. Throws
  /// WrongAnswer naming `what`.
  void expect_near(std::string_view what, std::span<const float> found,
                   std::span<const double> expected, double allowed);
  /// Holds one number found against the one that is expected. Throws WrongAnswer naming `what`.
  void expect_one(std::string_view what, double found, double expected, double allowed);
  /// Holds each number to be the one that is expected; none is NaN.
  void expect_same(std::string_view what, std::span<const float> found,
                   std::span<const float> expected);
  /// Throws WrongAnswer saying `what` is wrong, unless `holds`.
  static void require(bool holds, const std::string& what);

  /// The largest error so far, as a share of what was allowed.
  double worst() const { return worst_; }

 private:
  void compare(std::string_view what, std::size_t index, double found, double expected,
               double allowed);

  Context* context_;
  std::mt19937 random_{11};
  double worst_ = 0;
};

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

}  // namespace diacut
