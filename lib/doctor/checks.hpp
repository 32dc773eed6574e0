#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boundary/network/device_network.hpp"
#include "diacut/doctor.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "doctor/problems.hpp"
#include "doctor/trial.hpp"
#include "eigen/eigensolver.hpp"
#include "image/resize.hpp"
#include "matrix/matvec.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"

/// Known answers of the stages.
namespace diacut {

/// How a device is examined.
struct ExaminationOrder {
  std::string device;      ///< As choose_device() takes it.
  std::string kernel_dir;  ///< Empty: the built-in kernels.
  /// For tests: the device is given the kernels of another kind of device.
  std::optional<DeviceKind> as_kind = {};
};

/// As examine_device().
DeviceExamination examine(const ExaminationOrder& order, const Watch& watch);

/// All kernels that are built into the library, as CheckResult names them.
std::vector<std::string> kernels_of_library();

/// A known answer that a device is held to.
struct DeviceCheck {
  std::string_view name;  ///< What is computed, for a person.
  void (*run)(Trial&);    ///< Throws WrongAnswer, and what the computation throws.
};

/// The checks of each stage.
std::vector<DeviceCheck> boundary_checks();
std::vector<DeviceCheck> affinity_checks();
std::vector<DeviceCheck> product_checks();
std::vector<DeviceCheck> contour_checks();
std::vector<DeviceCheck> region_checks();
std::vector<DeviceCheck> walker_checks();
std::vector<DeviceCheck> solver_checks();

/// A picture in colour of patches under noise, with boundaries of every strength; the same in every
/// run.
Image drawn_scene(int width, int height);

/// Known answers of stages as a run computes them: with its parameters, so by its programs. Each
/// throws as DeviceCheck::run does. This one: the boundary map of networks, as the parameter
/// cue.weights names them, of a drawn scene of that size. `networks`: where they are kept on the
/// device.
void check_networks(Trial& trial, DeviceNetworks& networks, const std::string& names,
                    const PictureSize& size);
/// A boundary map for the three that follow; some pixels have no data.
BoundaryProblem drawn_boundary(Trial& trial);
/// The affinities of a boundary map, which are returned.
HostDiaMatrix check_affinity(Trial& trial, const BoundaryProblem& boundary,
                             const AffinityParameters& parameters);
/// The affinities of boundary maps of one size to the kept pixels of a decimation alone.
void check_kept_affinity(Trial& trial, std::span<const BoundaryProblem> boundaries,
                         const AffinityParameters& parameters);
/// The affinities of a boundary map normalized; they are returned.
NormalizedMatrix check_normalized_affinity(Trial& trial, const BoundaryProblem& boundary,
                                           const AffinityParameters& parameters);
/// The operator's product with x, twice, and where `recurrence` is set steps of recurrences, which
/// are kernels of their own. All may be off by so many roundings.
void check_product(Trial& trial, DeviceOperator& op, const std::vector<float>& x,
                   const TermSums& expected, double roundings, bool recurrence = true);
/// Eigenvectors of a small matrix whose eigenvalues are known, as many as `asked` says, by the
/// solver, the product and the form that it names, with neighbours of that stencil.
void check_known_eigenvectors(Trial& trial, const SolverParameters& asked, const Stencil& stencil);
/// The boundary map of an image that strong lines divide into six.
BoundaryProblem drawn_six_parts(Trial& trial, const Grid& grid);
/// How exact the eigenvectors of the kept pixels of such an image are.
struct SixParts {
  Grid grid;
  int held = 5;         ///< Vectors that are held to exact ones; 5 part the image.
  double off = 0;       ///< The share of an eigenvalue by which it may be off.
  double residual = 0;  ///< A vector's residual norm, as a share of its norm.
};
/// The eigenvectors that contours are made from, on a decimated grid: those of the matrix of the
/// kept pixels, which the host solves densely.
void check_decimation(Trial& trial, int radius, const SixParts& parts);
/// On grids that are solved in either way.
void check_decimation(Trial& trial, int radius);
/// Labels from seeds in a small image, by random walks with matrices of that form.
void check_walks(Trial& trial, MatrixForm form, int radius);
/// What direct cuts take from the affinities.
void check_direct_cuts(Trial& trial, int radius);
/// Products within regions, with so many vectors each.
void check_products_within(Trial& trial, const BlockProblem& problem,
                           std::initializer_list<int> all_columns);

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
void check_cue_contours(Trial& trial);
/// The directions of a boundary map, and whether `found` are those of a map of so many pixels.
void check_orientations(Trial& trial, const Grid& grid);
void expect_orientations(Trial& trial, const std::vector<float>& map, const Grid& grid,
                         const std::vector<float>& found);

}  // namespace diacut
