#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "diacut/image.hpp"
#include "image/decoded.hpp"

namespace diacut {

/// Brings the samples of an upright picture into [0, 1], as ImageParameters::range says, and marks
/// which pixels have no data. The notes of the result are those of `decoded`, then what a person
/// should know of the values. Throws InputError where no pixel has data, or where floats do not lie
/// in the range that was asked for.
Image to_image(const Decoded& decoded, ValueRange rule);

/// Whether a picture has one value everywhere, but for half a step of 8 bits.
bool is_flat(const Image& image);

/// The values of the pixels of a picture that have data, of all channels together.
class StoredValues {
 public:
  /// `count`: how many there are with those of pixels without data.
  explicit StoredValues(std::uint64_t count);
  /// Of how many values the sample has one.
  static std::size_t step_of(std::uint64_t count);

  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  std::vector<double> sample;  ///< Evenly spaced ones in scan order, for quantiles.

  void extend(double least, double greatest) {
    low = std::min(low, least);
    high = std::max(high, greatest);
  }
  /// Samples values that follow those before in scan order.
  void take(const double* values, std::size_t count) {
    for (; next_ < count; next_ += step_) sample.push_back(values[next_]);
    next_ -= count;
  }

 private:
  std::size_t step_;
  std::size_t next_ = 0;  ///< The next one that is sampled, of those that follow.
};

/// The values of a picture that to_image() makes 0 and 1. `depth`: OpenCV's, of the samples. Adds
/// to `notes` what to_image() does. Reorders the sample. Throws InputError where there are no
/// values, or where floats do not lie in the range that was asked for.
std::pair<double, double> choose_range(int depth, const TypeRange& type_range, StoredValues& values,
                                       ValueRange rule, std::vector<std::string>& notes);

}  // namespace diacut
