#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "region/borders.hpp"

namespace diacut {

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

}  // namespace diacut
