#pragma once

#include <cstdint>
#include <vector>

#include "diacut/hierarchy.hpp"
#include "diacut/parameters.hpp"
#include "region/arcs/arcs.hpp"
#include "region/arcs/parts.hpp"
#include "region/tree/learned_merging.hpp"
#include "region/tree/merging_weights.hpp"

namespace diacut {

/// The automatic threshold of hierarchies that are merged by mean strength.
inline constexpr double kStrengthThreshold = 0.3;

/// What merging by probability needs beside the boundary map.
struct LearnedMerging {
  Colours colours;  ///< Of the same pixels as the map.
  MergingWeights weights;
};

/// Oriented watershed and ultrametric contour map (Arbelaez, Maire, Fowlkes and Malik, "Contour
/// detection and hierarchical image segmentation", 2011, section 3): basins of the boundary
/// strength, arcs between them with a direction of their own, and greedy merging by the mean
/// strength along that direction. The map should not be thinned: basins leak through gaps.
///
/// strength: width * height values row by row, clamped to [0, 1]. orientation: the angle of the
/// boundary's normal at each pixel, from the x axis (right) towards the y axis (down), any period
/// of pi (as boundary_orientation() gives it); between two pixels the strength and the angle of
/// the stronger pixel count, and the strength is multiplied by 1 - d + d |cos(angle)| with the
/// angle to the arc's normal and d = parameters.direction. Empty: strengths are not multiplied.
/// valid: 0 where there is no data; empty: every pixel has data. learned: null, or what regions are
/// merged by probability with, in place of mean strength (region/tree/learned_merging.hpp).
///
/// Only the parameters direction and threshold are used; the result keeps the threshold, which is
/// that of the weights or kStrengthThreshold where parameters.threshold is empty. Time for
/// n pixels: about n log n. Throws InputError when sizes do not fit, NumericalError for a value
/// that is not finite where there is data. Deterministic, on the host.
Hierarchy hierarchy(const std::vector<float>& strength, const std::vector<float>& orientation,
                    const std::vector<std::uint8_t>& valid, int width, int height,
                    const HierarchyParameters& parameters, const LearnedMerging* learned = nullptr);

/// What hierarchies are made of: the basins of a boundary map, their arcs, and their merges by mean
/// strength.
struct StrengthTree {
  Labels basins;
  std::vector<Arc> arcs;
  std::vector<Merge> merges;
};

/// The first steps of hierarchy(), with `direction` in the place of parameters.direction, and the
/// merges up to the mean strength `most`.
StrengthTree strength_tree(const std::vector<float>& strength,
                           const std::vector<float>& orientation,
                           const std::vector<std::uint8_t>& valid, int width, int height,
                           double direction, float most = 1);

}  // namespace diacut
