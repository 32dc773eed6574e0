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

/// The values of the pixels that have data, of all channels together.
struct StoredValues {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  std::vector<double> sample;  ///< Evenly spaced ones in scan order, for quantiles.
};

/// The values of a picture that is too large for memory: they are added in scan order, those of
/// pixels with data alone.
class PictureValues {
 public:
  /// values: how many there are with those of pixels without data.
  explicit PictureValues(std::uint64_t values);

  void add(double value) {
    values_.low = std::min(values_.low, value);
    values_.high = std::max(values_.high, value);
    if (until_next_-- > 0) return;
    values_.sample.push_back(value);
    until_next_ = step_ - 1;
  }

  /// The values that to_image() makes 0 and 1. `depth`: OpenCV's, of the samples. Adds to `notes`
  /// what to_image() does. Throws InputError where nothing was added, or where floats do not lie in
  /// the range that was asked for.
  std::pair<double, double> range(int depth, const TypeRange& type_range, ValueRange rule,
                                  std::vector<std::string>& notes) &&;

 private:
  std::uint64_t step_;
  std::uint64_t until_next_ = 0;
  StoredValues values_;
};

}  // namespace diacut
