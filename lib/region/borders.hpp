#pragma once

#include <cstdint>
#include <vector>

#include "diacut/labels.hpp"

namespace diacut {

/// The common border of two regions.
struct Border {
  std::int32_t first = 0;   ///< The region with the smaller number.
  std::int32_t second = 0;  ///< The region with the larger number.
  std::int64_t length = 0;  ///< The pairs of 4-neighbours, one pixel in each region.
};

/// All borders between regions, in the order of (first, second). Pixels of label 0 have none. On
/// all cores; the same for any number of them.
std::vector<Border> find_borders(const Labels& labels);

/// The pixels of each region 1..labels.count; element 0 is 0. On all cores.
std::vector<std::int64_t> region_sizes(const Labels& labels);

/// number_of[label] for each label. On all cores.
std::vector<std::int32_t> relabelled(const std::vector<std::int32_t>& labels,
                                     const std::vector<std::int32_t>& number_of);

}  // namespace diacut
