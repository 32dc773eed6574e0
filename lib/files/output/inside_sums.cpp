#include <fmt/format.h>

#include <cmath>

#include "diacut/errors.hpp"
#include "diacut/objects.hpp"

namespace diacut {

std::vector<double> inside_sums(const Labels& regions, std::span<const float> inside) {
  if (inside.size() != regions.values.size()) {
    throw InputError(fmt::format("the inside map holds {} values, expected {} x {}", inside.size(),
                                 regions.width, regions.height));
  }
  std::vector<double> sums(static_cast<std::size_t>(regions.count) + 1, 0.0);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    sums[regions.values[i]] += std::round(inside[i] / kInsideStep);
  }
  return sums;
}

}  // namespace diacut
