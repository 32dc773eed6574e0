#pragma once

#include "diacut/annotations.hpp"
#include "diacut/labels.hpp"
#include "diacut/seeds.hpp"

/// @file
/// Labels that somebody corrects with a few marks.
namespace diacut {

/// Labels to be corrected, and the marks that say how.
struct Correction {
  LabelImage labels;  ///< With the numbers of the file.
  Seeds marks;        ///< Of the size of the labels.
};

/// Changes the regions that marks touch, and no other. A region with marks of one number gets that
/// number: so regions are joined. One with marks of several numbers is divided among them as they
/// grew: so it is split. On the background the marked pixels alone change. `grown`: the number of
/// each pixel that grew from the marks; 0: none. Returns 4-connected regions, in scan order, and
/// their numbers. Throws InputError where sizes differ, or a number is too large.
SeededRegions correct_labels(const Correction& correction, const Labels& grown);

}  // namespace diacut
