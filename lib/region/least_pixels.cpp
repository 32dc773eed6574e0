#include "region/least_pixels.hpp"

#include <algorithm>
#include <cmath>

namespace diacut {

namespace {

/// The automatic least size of a hierarchy's regions. On photographs of the Berkeley segmentation
/// data set no region that is smaller is one that people draw: without them covering is the same.
constexpr double kAutomaticShare = 0.001;
/// As a part of the mean size of the regions that were asked for: with much more there would not be
/// as many.
constexpr double kAutomaticPart = 0.25;
/// The automatic least size of direct cuts.
constexpr std::int64_t kKwayPixels = 50;

}  // namespace

std::int64_t least_pixels(const RegionParameters& parameters, std::int64_t pixels) {
  const auto of_data = [pixels](double share) {
    return static_cast<std::int64_t>(std::ceil(share * static_cast<double>(pixels)));
  };
  const LeastSize& size = parameters.min_size;
  switch (size.unit) {
    case LeastSize::Unit::kPixels:
      return static_cast<std::int64_t>(size.value);
    case LeastSize::Unit::kShare:
      return of_data(size.value);
    case LeastSize::Unit::kAutomatic:
      break;
  }
  if (parameters.method == RegionMethod::kKway) return kKwayPixels;
  if (parameters.regions == 0) return of_data(kAutomaticShare);
  return of_data(std::min(kAutomaticShare, kAutomaticPart / parameters.regions));
}

}  // namespace diacut
