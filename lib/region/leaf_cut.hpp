#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/parameters.hpp"
#include "region/borders.hpp"

namespace diacut {

/// A hierarchy without its pixels.
struct LeafTree {
  std::int32_t leaves = 0;
  const std::vector<Merge>& merges;  ///< As Hierarchy::merges.
  double threshold = 0;              ///< As Hierarchy::threshold.
};

/// A label for each leaf, as a cut gives it to the leaf's pixels. Element 0 is 0.
struct LeafLabels {
  std::int64_t count = 0;
  std::vector<std::int32_t> of_leaf;
};

/// cut(hierarchy, parameters, notes) for a hierarchy without its pixels. `sizes`: region_sizes() of
/// the leaves. `borders`: gives find_borders() of the leaves; called where there is a least size.
LeafLabels cut_leaves(const LeafTree& tree, const std::vector<std::int64_t>& sizes,
                      const std::function<std::vector<Border>()>& borders,
                      const RegionParameters& parameters, std::vector<std::string>& notes);

/// A hierarchy without small regions, as without_small_regions() has it, but for its pixels.
struct LargeRegions {
  std::vector<std::int32_t> leaf_of;  ///< By old leaf the new one, in scan order; 0 for 0.
  std::int32_t count = 0;             ///< New leaves.
  std::vector<Merge> merges;
};

/// Of the hierarchy with these merges. `borders` and `sizes`: find_borders() and region_sizes() of
/// the leaves. `min_size` as in without_small_regions().
LargeRegions large_regions(const std::vector<Merge>& merges, const std::vector<Border>& borders,
                           const std::vector<std::int64_t>& sizes, std::int64_t min_size);

/// parameters.min_size in pixels, for a picture in which `pixels` pixels have data.
std::int64_t least_pixels(const RegionParameters& parameters, std::int64_t pixels);

}  // namespace diacut
