#include "diacut/seeds.hpp"

#include <fmt/format.h>

#include <cmath>

#include "diacut/errors.hpp"
#include "image/raster.hpp"

namespace diacut {

Seeds read_seeds(const std::string& path, const ImageParameters& parameters) {
  const Raster raster = read_raster(path, parameters);
  Seeds seeds{raster.width, raster.height, {}};
  seeds.labels.reserve(raster.values.size());
  for (const double value : raster.values) {
    if (!(value >= 0) || value > kMostSeedLabel || value != std::floor(value)) {
      throw InputError(fmt::format(
          "{}: holds the value {}, expected the number of a label, 1 to {}, or 0 for none", path,
          value, kMostSeedLabel));
    }
    seeds.labels.push_back(static_cast<std::int32_t>(value));
  }
  return seeds;
}

}  // namespace diacut
