#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "affinity/feature_affinity.hpp"
#include "answers/problems.hpp"
#include "boundary/boundary.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A boundary map of mostly weak strengths with strong lines, as of a photograph.
struct BoundaryProblem {
  Grid grid;
  std::vector<float> strength;
  std::vector<std::uint8_t> valid;

  /// Every pixel has data. `drawn`: grid.rows() numbers in [0, 1).
  BoundaryProblem(const Grid& of, const std::vector<float>& drawn);

  std::size_t element(int x, int y) const { return at_size(y) * at_size(grid.width) + at_size(x); }
  /// Takes the data of an element away.
  void hide(std::size_t element);
  DeviceBoundary on_device(Context& context) const;
};

/// A boundary map, and features of its pixels.
struct FeatureProblem : BoundaryProblem {
  int channels;
  std::vector<float> features;  ///< Planes of grid.rows() elements.

  /// As long as the problem lives.
  FeatureSource source() const;
};

}  // namespace diacut
