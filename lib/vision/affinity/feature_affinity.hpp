#pragma once

#include <cstddef>
#include <functional>

#include "boundary/boundary.hpp"
#include "diacut/parameters.hpp"
#include "matrix/dia_matrix.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Features on a grid, wherever they are: read from a file, or made by a network on the device.
struct FeatureSource {
  /// Numbers of each pixel, at least 1.
  int channels = 0;
  /// Channels `first` to `first` + `count` - 1 into `block`: channel `first` + c of element i of
  /// the grid, for all grid.rows() elements, goes to block[c * pitch + offset + i]. Other elements
  /// of `block` stay as they are. It may enqueue. Elements without data may hold any finite number.
  std::function<void(int first, int count, std::size_t pitch, std::size_t offset,
                     Buffer<float>& block)>
      load;
};

/// Channels that are on the device at once.
inline constexpr int kFeatureBlock = 16;

/// Affinities by features, and the scale that they were computed with.
struct FeatureAffinity {
  DiaMatrix matrix;
  double scale = 0;
};

/// W by features: for pixels i and j with data whose offset is in the stencil,
///
///   W_ij = exp(-d_ij^2 / (2 scale^2))
///
/// with d_ij = |f_i - f_j| (J. Shi and J. Malik, "Normalized cuts and image segmentation", 2000,
/// equation 11), or, with FeatureMeasure::kCosine, of features divided by their length first, for
/// which d_ij^2 = 2 - 2 cos(f_i, f_j) (A. Ng, M. Jordan and Y. Weiss, "On spectral clustering",
/// 2001); a feature of length 0 stays 0. With parameters.with_boundary, W_ij is multiplied by the
/// entry of affinity_matrix(). W_ii = 1; 0 elsewhere; W is symmetric to the bit. The scale is
/// parameters.feature_scale or, where that is 0, 0.15 of the range of d_ij: Shi and Malik take "10
/// to 20 percent of the total range of the feature distance function". The range is here the
/// quantile 0.999 of d_ij, which outliers do not move, over the pairs with data that lie
/// parameters.radius apart in a row or a column (of direct neighbours, if there are none), or their
/// largest where that is 0. Throws InputError where no pair differs, DeviceError.
FeatureAffinity feature_affinity(Context& context, const DeviceBoundary& boundary,
                                 const FeatureSource& features,
                                 const AffinityParameters& parameters);

}  // namespace diacut
