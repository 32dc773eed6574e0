#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"

/// @file
/// Objects on a background, such as cells on a micrograph: the nodes of a merge tree with the best
/// total score that do not overlap. Dynamic programming from the leaves to the roots finds the
/// exact optimum (C. Arteta, V. Lempitsky, J. A. Noble and A. Zisserman, "Learning to detect
/// cells using non-overlapping extremal regions", 2012).
namespace diacut {

/// The closed interval from `low` to `high`.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();  ///< The least number.
  double high = std::numeric_limits<double>::infinity();  ///< The greatest number.
};

/// How good a node is as an object.
enum class ObjectScoring {
  kContrast,  ///< Its contrast times its solidity.
  /// The probability that it is a cell's nucleus, from twelve figures of its boundary, shape and
  /// brightness, less the least probability of an object (docs/objects.md). Needs an image.
  kNuclei,
};

/// The conditions for a node of a merge tree to be an object.
struct ObjectConditions {
  std::optional<LeastSize> least_area;     ///< In pixels or as a share; nothing: no limit.
  std::optional<LeastSize> greatest_area;  ///< In pixels or as a share; nothing: no limit.
  /// The area divided by the area of the convex hull of the corners of the pixels, in (0, 1].
  Interval solidity = {0.9, std::numeric_limits<double>::infinity()};
  /// The height at which the node merges with another, less the height of the merge that made the
  /// node, 0 for a leaf; in [0, 1]. It is how much stronger the boundary around the node is than
  /// the strongest boundary that was removed within it.
  Interval contrast = {0.08, std::numeric_limits<double>::infinity()};
  /// The mean brightness of the node less that of the node that it merges with; in [-1, 1]. The
  /// brightness of a pixel is the mean of its channels. Needs an image if an end is finite.
  Interval brightness;
  ObjectScoring score = ObjectScoring::kContrast;  ///< What is summed over the objects.
};

/// Conditions for ObjectScoring::kNuclei: areas from 15 to 8000 pixels, as in its training data,
/// and no limits of solidity, contrast and brightness, which the score contains.
ObjectConditions nuclei_conditions();

/// The objects: those nodes that meet all conditions, that do not overlap, and whose scores have
/// the greatest sum of conditions.score. A node that scores as much as the best choice below it is
/// taken whole. With ObjectScoring::kNuclei all objects of a picture are brighter than what is
/// around them, or all are darker: whichever gives the greater sum, unless the condition of
/// brightness leaves one of them. A root, which merges with nothing, has no contrast and is never
/// an object. For n nodes, p pixels and hulls of at most h corners the time is at most of the order
/// p + n h, the memory p + n. `image`: the image that the hierarchy was made from, or null: then
/// nothing is known of brightness. `notes` gets a sentence for a person when there is no object.
/// Returns labels 1, 2, ... in scan order, each 4-connected; 0 is the background and pixels without
/// data. Throws ConfigError when an interval has no number in it, an end of it is no number, a
/// greatest area, solidity or contrast is below 0, an area is LeastSize::Unit::kAutomatic, or
/// brightness or ObjectScoring::kNuclei is asked for without an image. Throws InputError when the
/// image is not of the size of the hierarchy.
Labels find_objects(const Hierarchy& hierarchy, const ObjectConditions& conditions,
                    const Image* image, std::vector<std::string>& notes);

/// The unit of inside_sums().
inline constexpr double kInsideStep = 0x1p-24;

/// Sums of an inside map (Segmentation::inside) for each label from 0 to regions.count, in steps of
/// kInsideStep, to which each value is rounded, so that the order of the pixels does not matter:
/// doubles hold these integers exactly. Throws InputError when `inside` has not a value for each
/// pixel.
std::vector<double> inside_sums(const Labels& regions, std::span<const float> inside);

/// The regions that lie inside objects, as RegionMethod::kObjects finds them: those with a mean of
/// the inside map above parameters.inside and at least parameters.min_size. `notes` gets a sentence
/// for a person when there is no object. Returns labels 1, 2, ... in scan order; 0 is the
/// background and pixels without data. Throws as inside_sums() does.
Labels objects_of_regions(const Labels& regions, std::span<const float> inside,
                          const RegionParameters& parameters, std::vector<std::string>& notes);

}  // namespace diacut
