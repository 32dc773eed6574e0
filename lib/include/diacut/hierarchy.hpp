#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"

/// @file
/// All segmentations of an image at once, from fine to coarse, as a merge tree: regions join pair
/// by pair, the pair with the weakest boundary first (P. Arbelaez, "Boundary extraction in natural
/// images using ultrametric contour maps", 2006; P. Arbelaez, M. Maire, C. Fowlkes and J. Malik,
/// "Contour detection and hierarchical image segmentation", 2011).
namespace diacut {

/// Two nodes of a merge tree that become one. Nodes are numbered: the leaves 1..n by their labels,
/// then the merges in their order, so that merges[k] makes node n + 1 + k.
struct Merge {
  std::int32_t first = 0;   ///< Number of one child, smaller than `second`.
  std::int32_t second = 0;  ///< Number of the other child.
  /// In [0, 1], by MergingRule: the probability that the regions are different things, of this
  /// merge or an earlier one, whichever is larger; or the mean strength of the boundary that the
  /// merge removes.
  float height = 0;
};

/// A merge tree; a forest if the image's pixels with data form several pieces that do not touch.
/// Every function that takes one expects the following (see check()):
///  - leaves keep the contract of Labels: 1..n in scan order, 0 where there is no data, each
///    4-connected;
///  - a merge's children are older than itself, and each node is the child of at most one merge;
///  - children touch: some pixel of one is a 4-neighbour of some pixel of the other;
///  - heights lie in [0, 1] and never fall from one merge to the next. The order of merges of equal
///    height is part of the value: cut_to_count() undoes the last ones first;
///  - merges.size() is n minus the number of 4-connected pieces of the data, so that every piece
///    becomes one region in the end.
struct Hierarchy {
  Labels leaves;              ///< The finest segmentation.
  std::vector<Merge> merges;  ///< The merges, in ascending order of height.
  double threshold = 0;       ///< The height of its automatic cut, in [0, 1].
};

/// Checks what Hierarchy promises. Throws InputError that says what is wrong.
void check(const Hierarchy& hierarchy);

/// The regions after all merges of at most the height `threshold`; NaN merges nothing. Thresholds
/// nest: each region of a smaller one lies in one of a larger one. Time grows with the pixels.
Labels cut(const Hierarchy& hierarchy, double threshold);

/// A given number of regions: makes all merges, then undoes the last ones. Counts nest as
/// thresholds do. There are more regions than asked for if the data lies in more pieces, and fewer
/// if there are fewer leaves; `notes` then gets a sentence for the user. Throws ConfigError when
/// `regions` is less than 1.
Labels cut_to_count(const Hierarchy& hierarchy, std::int64_t regions,
                    std::vector<std::string>& notes);

/// The hierarchy without leaves and merges of fewer than `min_size` pixels, except for pieces of
/// the data that are smaller. A smaller node joins, from the start, the node that it merges with,
/// which is the neighbour across the weakest boundary; if that consists of several nodes of at
/// least that size, it joins the one with the longest common boundary. Merges of two nodes that are
/// large enough keep their order and their heights.
Hierarchy without_small_regions(Hierarchy hierarchy, std::int64_t min_size);

/// Cuts as the parameters say: without regions below `min_size`; into `regions` regions of that
/// `compactness` or, if `regions` is 0, at `threshold`, or, if that is empty, at the hierarchy's
/// own threshold. Other parameters have no effect. `notes` gets sentences for the user if the
/// labels are not what was asked for, or are one region.
Labels cut(const Hierarchy& hierarchy, const RegionParameters& parameters,
           std::vector<std::string>& notes);

/// The ultrametric contour map on the doubled grid. The 8-connected components of map <= t, sampled
/// at the pixels, are the regions of cut(hierarchy, t).
/// @return (2 height + 1) rows of (2 width + 1) values:
///  - at (2y + 1, 2x + 1), pixel (y, x): 0;
///  - between two neighbouring pixels: the height at which their regions merge, 0 within a leaf,
///    infinity where they never merge (pixels without data count as one region that never merges);
///  - at crossings (even row, even column): the largest of the up to four values around it;
///  - on the image's border, except for crossings: 0.
std::vector<float> ultrametric_map(const Hierarchy& hierarchy);

}  // namespace diacut
