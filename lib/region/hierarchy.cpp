#include "region/hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "diacut/errors.hpp"
#include "region/arcs.hpp"
#include "region/merge_tree.hpp"
#include "region/parts.hpp"
#include "region/watershed.hpp"

namespace diacut {

namespace {

/// The size and the mask that all maps share.
struct Grid {
  const std::vector<std::uint8_t>& valid;
  int width = 0;
  int height = 0;

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }

  void check() const {
    if (width < 1 || height < 1) {
      throw InputError(
          fmt::format("a boundary map of {} x {} pixels has nothing to segment", width, height));
    }
    if (!valid.empty() && valid.size() != pixels()) throw misfit("mask", valid.size());
  }
  void check(const std::vector<float>& map, const char* what) const {
    if (map.size() != pixels()) throw misfit(what, map.size());
    for (std::size_t i = 0; i < map.size(); ++i) {
      if (std::isfinite(map[i]) || (!valid.empty() && valid[i] == 0)) continue;
      throw NumericalError(fmt::format("the {} at pixel ({}, {}) is {}, expected a finite number",
                                       what, i % static_cast<std::size_t>(width),
                                       i / static_cast<std::size_t>(width), map[i]));
    }
  }

 private:
  InputError misfit(const char* what, std::size_t size) const {
    return InputError(
        fmt::format("the {} has {} values, expected {} x {}", what, size, width, height));
  }
};

/// The map clamped to [0, 1], and 0 where there is no data.
std::vector<float> cleaned(const std::vector<float>& map, const std::vector<std::uint8_t>& valid) {
  std::vector<float> result(map.size(), 0.0F);
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (valid.empty() || valid[i] != 0) result[i] = std::clamp(map[i], 0.0F, 1.0F);
  }
  return result;
}

Hierarchy build(const Grid& grid, const std::vector<float>& strength,
                const BoundaryStrength& along_arcs, const RegionParameters& parameters) {
  Parts basins = watershed(strength, grid.valid, grid.width, grid.height);
  Hierarchy result;
  result.merges = merge_greedily(basins.count, find_arcs(basins, along_arcs));
  result.leaves = {grid.width, grid.height, basins.count, std::move(basins.of_pixel)};
  result.threshold = parameters.threshold;
  return result;
}

}  // namespace

Hierarchy hierarchy(const std::vector<float>& strength, const std::vector<float>& orientation,
                    const std::vector<std::uint8_t>& valid, int width, int height,
                    const RegionParameters& parameters) {
  const Grid grid{valid, width, height};
  grid.check();
  grid.check(strength, "boundary strength");
  if (!orientation.empty()) grid.check(orientation, "boundary orientation");
  const std::vector<float> map = cleaned(strength, valid);
  const auto along_arcs = [&](std::size_t p, std::size_t q, double nx, double ny) -> double {
    const std::size_t stronger = map[q] > map[p] ? q : p;
    if (orientation.empty()) return map[stronger];
    const double angle = orientation[stronger];
    const double agreement = std::abs(nx * std::cos(angle) + ny * std::sin(angle));
    return map[stronger] * (1.0 - parameters.direction * (1.0 - agreement));
  };
  return build(grid, map, along_arcs, parameters);
}

Hierarchy hierarchy(const OrientedStrength& strength, const std::vector<std::uint8_t>& valid,
                    int width, int height, const RegionParameters& parameters) {
  const Grid grid{valid, width, height};
  grid.check();
  OrientedStrength maps;
  std::vector<float> largest(grid.pixels(), 0.0F);
  for (std::size_t k = 0; k < maps.size(); ++k) {
    grid.check(strength[k], "boundary strength");
    maps[k] = cleaned(strength[k], valid);
    std::transform(largest.begin(), largest.end(), maps[k].begin(), largest.begin(),
                   [](float a, float b) { return std::max(a, b); });
  }
  const auto along_arcs = [&](std::size_t p, std::size_t q, double nx, double ny) -> double {
    const auto directions = static_cast<long>(maps.size());
    const double turn = std::atan2(ny, nx) / std::numbers::pi * static_cast<double>(directions);
    const long nearest = (std::lround(turn) + directions) % directions;
    const std::vector<float>& map = maps[static_cast<std::size_t>(nearest)];
    return std::max(map[p], map[q]);
  };
  return build(grid, largest, along_arcs, parameters);
}

}  // namespace diacut
