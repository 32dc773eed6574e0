#include "image/value_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <optional>

#include "diacut/errors.hpp"

namespace diacut {
namespace {

/// The share of the values that robust_range() leaves out at either end.
constexpr double kBeyond = 0.001;

/// The range that all but about a thousandth of the values lie in, at either end; the range of all
/// values where that is a single number.
ValueLimits robust_range(const StoredValues& values) {
  std::vector<double> sample = values.sample();
  const auto last = static_cast<double>(sample.size() - 1);
  const auto value_at = [&](double index) {
    const auto at = sample.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(sample.begin(), at, sample.end());
    return *at;
  };
  // In a picture of less than a thousand values these are the least and the greatest.
  const ValueLimits range{value_at(std::floor(kBeyond * last)),
                          value_at(std::ceil((1 - kBeyond) * last))};
  if (range.high > range.low) return range;
  return {values.low, values.high};
}

/// Whether robust_range() surely takes up half of the range of a type. Counting the values beyond
/// two limits that lie so far apart is much faster than finding the quantiles.
bool surely_fills_half(const ValueLimits& of_type, const StoredValues& values) {
  // More than half, so that rounding cannot change what the quantiles would say.
  constexpr double kHalf = 0.5 + 1e-9;
  const double extent = of_type.high - of_type.low;
  const auto last = static_cast<double>(values.sample_size - 1);
  const auto least = static_cast<std::size_t>(std::floor(kBeyond * last));
  const auto most = static_cast<std::size_t>(std::ceil((1 - kBeyond) * last));
  for (const double begin : {0.25, 0.0, 0.5 - 1e-9}) {
    const double low = of_type.low + begin * extent;
    const CountsBeyond beyond = values.beyond({low, low + kHalf * extent});
    if (beyond.low > least && beyond.below <= most) return true;
  }
  return false;
}

/// A range within `of` of at least `least`, about the middle of `range`.
ValueLimits widened(const ValueLimits& range, double least, const ValueLimits& of) {
  if (range.high - range.low >= least) return range;
  const double middle =
      std::clamp((range.low + range.high) / 2, of.low + least / 2, of.high - least / 2);
  return {middle - least / 2, middle + least / 2};
}

/// The range of ValueRange::kAuto. Values of 8 bits are stretched 20 times at most: rounding is all
/// that a picture of fewer steps shows.
ValueLimits automatic_range(std::optional<ValueLimits> of_type, bool eight_bits,
                            const StoredValues& values, Image& image) {
  if (of_type && surely_fills_half(*of_type, values)) return *of_type;
  ValueLimits robust = robust_range(values);
  if (eight_bits && robust.high > robust.low) {
    robust = widened(robust, (of_type->high - of_type->low) / 20, *of_type);
  }
  // Twelve bits of a camera stored in sixteen, say. A photograph that was exposed for its type
  // fills more than half of the range, and stays as it is.
  constexpr double kMostlyEmpty = 0.5;
  if (!(robust.high > robust.low)) return of_type.value_or(robust);
  if (of_type &&
      robust.high / 2 - robust.low / 2 >= kMostlyEmpty * (of_type->high / 2 - of_type->low / 2)) {
    return *of_type;
  }
  const std::string of =
      of_type ? fmt::format(", take up less than half of {:.6g} to {:.6g}:", of_type->low,
                            of_type->high)
              : "";
  image.notes.push_back(fmt::format(
      "Its values, {:.6g} to {:.6g}{} {:.6g} to {:.6g} became 0 to 1 (image.range).", values.low,
      values.high, of.empty() ? ", lie beyond 0 to 1:" : of, robust.low, robust.high));
  return robust;
}

}  // namespace

ValueLimits choose_range(const Decoded& decoded, const StoredValues& values, ValueRange rule,
                         Image& image) {
  const bool unit = values.low >= 0 && values.high <= 1;
  std::optional<ValueLimits> of_type;
  if (decoded.type_range) {
    of_type = ValueLimits{decoded.type_range->first, decoded.type_range->second};
  } else if (unit) {
    of_type = ValueLimits{0, 1};
  }
  switch (rule) {
    case ValueRange::kData:
      return {values.low, values.high};
    case ValueRange::kRobust:
      return robust_range(values);
    case ValueRange::kType:
      if (of_type) return *of_type;
      throw InputError(fmt::format(
          "its values run from {:.6g} to {:.6g}, where image.range \"type\" expects floats within "
          "[0, 1]: set image.range to \"data\" or \"auto\"",
          values.low, values.high));
    case ValueRange::kAuto:
      break;
  }
  return automatic_range(of_type, decoded.samples.depth() == CV_8U, values, image);
}

}  // namespace diacut
