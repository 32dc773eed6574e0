#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/labels.hpp"

/// All segmentations of an image at once, from fine to coarse: regions that join one pair after the
/// other, the pair with the weakest boundary first (P. Arbelaez, "Boundary extraction in natural
/// images using ultrametric contour maps", 2006; Arbelaez, Maire, Fowlkes and Malik, "Contour
/// detection and hierarchical image segmentation", 2011).
namespace diacut {

/// Two nodes that become one. Nodes are numbered: the leaves 1..n as the base labels, then the
/// merges in their order, so that merges[k] makes node n + 1 + k.
struct Merge {
  std::int32_t first = 0;   ///< The child with the smaller number.
  std::int32_t second = 0;  ///< The other.
  float height = 0;         ///< Mean strength of the boundary that goes.
};

/// A forest: pieces of the data that do not touch are never merged. What holds of it (see check()):
///  - leaves keep the contract of Labels: 1..n in scan order, 0 where there is no data, each
///    4-connected;
///  - a merge's children are older than itself, and each node is the child of at most one merge;
///  - children touch: some pixel of one is a 4-neighbour of some pixel of the other;
///  - heights lie in [0, 1] and never fall from one merge to the next. Of equal heights the order
///    of the merges decides, and it is part of the value;
///  - merges.size() is n less the number of 4-connected pieces of the data: what can merge does.
struct Hierarchy {
  Labels leaves;
  std::vector<Merge> merges;
  /// Where to cut when nobody says otherwise, in [0, 1]: set for the maps it was made from.
  double threshold = 0;
};

/// Throws InputError, telling what is wrong, if `hierarchy` is not as described above.
void check(const Hierarchy& hierarchy);

/// The regions after all merges of height <= threshold. Thresholds nest: each region of a smaller
/// one lies in one region of a larger one. A NaN merges nothing. Time: the pixels.
Labels cut(const Hierarchy& hierarchy, double threshold);

/// `regions` regions: the last merges are undone, so these nest too. There are more when the data
/// lies in more pieces, and fewer when there are fewer leaves; `notes` is told of both. Throws
/// ConfigError for `regions` < 1.
Labels cut_to_count(const Hierarchy& hierarchy, std::int64_t regions,
                    std::vector<std::string>& notes);

/// The ultrametric contour map on the doubled grid, (2 height + 1) rows of (2 width + 1) values:
///  - at (2y + 1, 2x + 1) pixel (y, x): 0;
///  - between two neighbours: the height at which their regions merge, 0 within a leaf, infinity
///    where they never do (data beside none, counted as one region of its own);
///  - at crossings (even row, even column): the largest of the up to four around it;
///  - on the image's border, but for its crossings: 0.
/// So the 8-connected components of map <= t, sampled at the pixels, are the regions of cut(t).
std::vector<float> ultrametric_map(const Hierarchy& hierarchy);

}  // namespace diacut
