#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boundary/network/device_network.hpp"
#include "diacut/doctor.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "doctor/trial.hpp"
#include "eigen/eigensolver.hpp"
#include "image/resize.hpp"
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
/// The affinities of a boundary map, and these normalized.
void check_affinity(Trial& trial, const AffinityParameters& parameters);
/// The affinities of a boundary map to the kept pixels of a decimation alone.
void check_kept_affinity(Trial& trial, const AffinityParameters& parameters);
void check_normalized_affinity(Trial& trial, const AffinityParameters& parameters);
/// Eigenvectors of a small matrix whose eigenvalues are known, as many as `asked` says, by the
/// solver, the product and the form that it names, with neighbours of that stencil.
void check_known_eigenvectors(Trial& trial, const SolverParameters& asked, const Stencil& stencil);
/// The eigenvectors that contours are made from, on decimated grids.
void check_decimation(Trial& trial, int radius);
/// Labels from seeds in a small image, by random walks with matrices of that form.
void check_walks(Trial& trial, MatrixForm form, int radius);
/// What direct cuts take from the affinities.
void check_direct_cuts(Trial& trial, int radius);
/// Contours from eigenvectors and a boundary map, from that map alone, and their directions.
void check_combined_contours(Trial& trial);
void check_cue_contours(Trial& trial);
void check_orientations(Trial& trial);

}  // namespace diacut
