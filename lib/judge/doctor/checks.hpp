#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "answers/checks.hpp"
#include "boundary/network/device_network.hpp"
#include "diacut/doctor.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "doctor/boundary_problem.hpp"
#include "image/resize.hpp"
#include "opencl/context.hpp"

/// Known answers of the stages.
namespace diacut {

/// How a device is examined.
struct ExaminationOrder {
  std::string device;      ///< As choose_device() takes it.
  std::string kernel_dir;  ///< Empty: the built-in kernels.
  /// For tests: the device is given the kernels of another kind of device.
  std::optional<DeviceKind> as_kind = {};
  std::string only = {};  ///< For tests: checks whose names hold this.
};

/// As examine_device().
DeviceExamination examine(const ExaminationOrder& order, const Watch& watch);

/// All kernels that are built into the library, as CheckResult names them.
std::vector<std::string> kernels_of_library();

/// The checks of each stage that knows pictures.
std::vector<DeviceCheck> boundary_checks();
std::vector<DeviceCheck> affinity_checks();
std::vector<DeviceCheck> contour_checks();

/// A picture in colour of patches under noise, with boundaries of every strength; the same in every
/// run.
Image drawn_scene(int width, int height);

/// Known answers of stages as a run computes them: with its parameters, so by its programs. Each
/// throws as DeviceCheck::run does. This one: the boundary map of networks, and their embedding, as
/// the parameter boundary.weights names them, of a drawn scene of that size. `networks`: where they
/// are kept on the device.
void check_networks(Trial& trial, DeviceNetworks& networks, const std::string& names,
                    const PictureSize& size);
/// The look for values out of range, by which a run checks its results.
void check_ranges(Trial& trial);
/// A boundary map for the three that follow; some pixels have no data.
BoundaryProblem drawn_boundary(Trial& trial);
/// The affinities of a boundary map, which are returned.
HostDiaMatrix check_affinity(Trial& trial, const BoundaryProblem& boundary,
                             const AffinityParameters& parameters);
/// The affinities W between all pixels and those of every other row and column, in double.
Eigen::MatrixXd reference_kept_rows(const BoundaryProblem& boundary,
                                    const AffinityParameters& parameters);
/// The affinities of a boundary map to every other row and column, normalized, and their matrix.
void check_kept_affinity(Trial& trial, const BoundaryProblem& boundary,
                         const AffinityParameters& parameters);
/// The affinities of a boundary map normalized; they are returned.
NormalizedMatrix check_normalized_affinity(Trial& trial, const BoundaryProblem& boundary,
                                           const AffinityParameters& parameters);
/// The affinities by features, with the scale that is found; they are returned.
FeatureAffinity check_feature_affinity(Trial& trial, const FeatureProblem& problem,
                                       const AffinityParameters& parameters);
/// The automatic scale of features, some of which differ.
double reference_feature_scale(const FeatureProblem& problem, const AffinityParameters& parameters);
/// The boundary map of an image that strong lines divide into six.
BoundaryProblem drawn_six_parts(Trial& trial, const Grid& grid);
/// How exact the eigenvectors of the kept pixels of such an image are.
struct SixParts {
  Grid grid;
  int held = 5;         ///< Vectors that are held to exact ones; 5 part the image.
  double off = 0;       ///< The share of an eigenvalue by which it may be off.
  double residual = 0;  ///< A vector's residual norm, as a share of its norm.
};
/// The rough eigenvectors that contours are made from: those of the matrix of every other row and
/// column, which the host solves densely.
void check_rough_eigenvectors(Trial& trial, int radius, const SixParts& parts);
/// On grids that are solved in either way.
void check_rough_eigenvectors(Trial& trial, int radius);

inline constexpr Grid kContourGrid{61, 43};
/// Drawn eigenvectors that a contour is made from, the trivial one included.
struct ContourProblem {
  Grid grid = kContourGrid;
  int vectors = 5;
  bool masked = true;       ///< Some pixels have no data.
  bool two_pieces = false;  ///< The second eigenvalue is 0 too.
};
/// The contour from eigenvectors and a boundary map, and from that map alone.
void check_combined_contour(Trial& trial, const ContourProblem& problem,
                            const ContourParameters& parameters);
void check_contours(Trial& trial);
void check_boundary_contours(Trial& trial);
/// The directions of a boundary map, and whether `found` are those of a map of so many pixels.
void check_orientations(Trial& trial, const Grid& grid);
void expect_orientations(Trial& trial, const std::vector<float>& map, const Grid& grid,
                         const std::vector<float>& found);

}  // namespace diacut
