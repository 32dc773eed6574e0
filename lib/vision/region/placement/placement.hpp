#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/labels.hpp"

namespace diacut {

/// A picture at its full size, in which boundaries that were found in a smaller picture are placed.
struct FullPicture {
  int width = 0;
  int height = 0;
  /// How fast the colours change at each pixel, width * height values row by row: boundaries are
  /// placed where it is largest.
  const std::vector<std::uint8_t>& levels;
  /// 0 where there is no data; empty: every pixel has data.
  const std::vector<std::uint8_t>& valid;
};

/// The regions of a reduced picture in the full one. What is within a region, more than one and a
/// half pixels of the reduced picture from its boundary, stays in the region; the band between is
/// flooded from there in the order of the levels, as in a watershed from markers (Beucher and Meyer
/// 1993), first in, first out within a level, from the regions' borders in scan order. A region
/// that is too thin to have such pixels keeps a line of pixels that connects it.
///
/// The result keeps the contract of Labels. A region that pixels without data part becomes several,
/// and one that has no pixel of its own in the full picture is gone. Preconditions: `found` keeps
/// that contract and is not larger than the picture; every pixel with data lies in a pixel of
/// `found` with data. Time: the pixels. Deterministic.
Labels placed(const Labels& found, const FullPicture& picture);

/// A hierarchy found in a reduced picture, in the full one: its leaves are placed, and each pair of
/// leaves that touch merges where the leaves that they were found as merge. check() holds for the
/// result if it does for `found`.
Hierarchy placed(const Hierarchy& found, const FullPicture& picture);

/// Marks the pixels that are left of each region when its outermost layer of pixels is peeled off,
/// but for pixels that connect what is left or end a line (thinning: C. J. Hilditch, "Linear
/// skeletons from square cupboards", 1969). One value a pixel, 1 or 0; 0 where the label is 0.
/// Every region keeps at least one pixel, and what it keeps is 4-connected if the region is.
/// The border of the picture is no boundary. Time: the pixels. Deterministic.
std::vector<std::uint8_t> region_cores(const Labels& labels);

}  // namespace diacut
