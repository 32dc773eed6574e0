#include "region/tree/hierarchy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "region/tree/merge_tree.hpp"
#include "region/watershed/watershed.hpp"

namespace diacut {

namespace {

/// Fewer pixels are not worth another thread.
constexpr std::size_t kHierarchyLeastPixels = 32768;

void check_size(std::size_t size, int width, int height, const char* what) {
  if (size == static_cast<std::size_t>(width) * height) return;
  throw InputError(
      fmt::format("the {} has {} values, expected {} x {}", what, size, width, height));
}

void check_map(const std::vector<float>& map, const std::vector<std::uint8_t>& valid, int width,
               int height, const char* what) {
  check_size(map.size(), width, height, what);
  const auto row = static_cast<std::size_t>(width);
  parallel_ranges(map.size(), kHierarchyLeastPixels, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (std::isfinite(map[i]) || (!valid.empty() && valid[i] == 0)) continue;
      throw NumericalError(fmt::format("the {} at pixel ({}, {}) is {}, expected a finite number",
                                       what, i % row, i / row, map[i]));
    }
  });
}

}  // namespace

StrengthTree strength_tree(const std::vector<float>& strength,
                           const std::vector<float>& orientation,
                           const std::vector<std::uint8_t>& valid, int width, int height,
                           double direction, float most) {
  if (width < 1 || height < 1) {
    throw InputError(
        fmt::format("a boundary map of {} x {} pixels has nothing to segment", width, height));
  }
  if (!valid.empty()) check_size(valid.size(), width, height, "mask");
  check_map(strength, valid, width, height, "boundary strength");
  if (!orientation.empty()) check_map(orientation, valid, width, height, "boundary orientation");
  const double counts = orientation.empty() ? 0.0 : direction;
  const auto along_arcs = [&](std::size_t p, std::size_t q, double nx, double ny) -> double {
    return side_strength(strength, orientation, p, q).along(nx, ny, counts);
  };
  StrengthTree tree;
  tree.basins = watershed(strength, valid, width, height);
  tree.arcs = find_arcs(tree.basins, along_arcs);
  tree.merges = merge_greedily(static_cast<std::int32_t>(tree.basins.count), tree.arcs, most);
  return tree;
}

Hierarchy hierarchy(const std::vector<float>& strength, const std::vector<float>& orientation,
                    const std::vector<std::uint8_t>& valid, int width, int height,
                    const HierarchyParameters& parameters, const LearnedMerging* learned) {
  StrengthTree tree =
      strength_tree(strength, orientation, valid, width, height, parameters.direction,
                    learned != nullptr ? static_cast<float>(kStartStrength) : 1.0F);
  Labels& basins = tree.basins;
  Hierarchy result;
  if (learned != nullptr) {
    RegionGraph graph = region_graph(basins, tree.arcs, tree.merges, tree.merges.size(), strength,
                                     learned->colours);
    result.merges = merge_by_probability(
        std::move(graph), std::move(tree.merges), static_cast<std::int32_t>(basins.count),
        learned->colours.channels == 3 ? learned->weights.colour : learned->weights.grey);
  } else {
    result.merges = std::move(tree.merges);
  }
  result.leaves = std::move(basins);
  result.threshold = parameters.threshold.value_or(learned != nullptr ? learned->weights.threshold
                                                                      : kStrengthThreshold);
  return result;
}

}  // namespace diacut
