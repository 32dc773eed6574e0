#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "diacut/image.hpp"
#include "image/decoded.hpp"

namespace diacut {

/// The values that become 0 and 1.
struct ValueLimits {
  double low = 0;
  double high = 1;
};

/// How many values lie at or below one limit, and how many below another.
struct CountsBeyond {
  std::size_t low = 0;
  std::size_t below = 0;
};

/// The values of the pixels that have data, of all channels together.
struct StoredValues {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  std::size_t sample_size = 0;  ///< At most kSampled.
  /// Evenly spaced values in scan order, for quantiles.
  std::function<std::vector<double>()> sample;
  /// How many of the sample lie at or below range.low, and below range.high.
  std::function<CountsBeyond(const ValueLimits& range)> beyond;
};

/// Values of a sample, at most: enough for a thousandth at either end.
inline constexpr std::size_t kSampled = std::size_t{1} << 20;

/// The values of a picture that become 0 and 1 by `rule`. `image` gets a note where they are
/// neither the type's nor those of a rule that was asked for. Throws InputError where the rule does
/// not hold.
ValueLimits choose_range(const Decoded& decoded, const StoredValues& values, ValueRange rule,
                         Image& image);

}  // namespace diacut
