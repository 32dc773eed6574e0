#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/memory.hpp"
#include "diacut/parameters.hpp"
#include "image/resize.hpp"
#include "matrix/block.hpp"
#include "matrix/grid.hpp"
#include "matrix/matvec.hpp"
#include "opencl/devices.hpp"

namespace diacut {

/// The parameters of a run, and what comes with its images and decides what it allocates.
struct RunParameters : Parameters {
  RunParameters() = default;
  /// Of images that come with nothing. Not explicit, because that is what parameters alone mean.
  RunParameters(const Parameters& parameters)
      : Parameters(parameters),
        contour_decided(contour_parameters(parameters.contour, BoundarySource::kNetwork)) {}

  ContourParameters contour_decided;  ///< What `contour` asks for, decided for these images.
  int feature_channels = 0;           ///< Channels of the images' features; 0: they have none.
  int labels = 0;                     ///< Of the seeds; 0: not known, which counts as the fewest.
  bool eigenvectors = true;           ///< Whether anybody needs those of the image's own grid.

  bool has_features() const { return feature_channels > 0; }
  /// Whether there is a boundary map.
  bool has_boundary() const { return !has_features() || affinity.with_boundary; }
};

/// Whether contours need another boundary map than affinities: these are made from a thinned map,
/// through whose gaps the basins of a hierarchy would leak.
bool thins(const BoundaryParameters& boundary);

/// Whether regions grow from seeds by a random walk.
bool walks(const Parameters& parameters);

/// Whether contours are made with eigenvectors of the pixels of every other row and column.
bool decimates(const RunParameters& parameters);

/// Whether a run needs the matrix: for eigenvectors, or for a random walk.
bool needs_matrix(const RunParameters& parameters);

/// Whether the regions of a hierarchy merge by probability. `own_map`: no network makes the
/// boundary map, because it is the user's or there is none.
bool merges_by_probability(const Parameters& parameters, bool own_map);

/// One way to segment images: as was asked for, with a solver, a form of the matrix and a product.
struct RunForm {
  Batch batch;
  RunParameters parameters;  ///< Their solver is never SolverKind::kAuto.
  MatvecChoice product = {};
  /// The form of the matrix that the eigensolver reads, or the V-cycle of a random walk.
  MatrixForm matrix = MatrixForm::kDia;
  DeviceKind device = DeviceKind::kCpu;  ///< On which the run is to be.
  std::vector<std::string> notes = {};   ///< What a person should know of these choices.
};

/// The forms in which images of one size can be segmented, the preferred one first. One that takes
/// more memory than there is fails with a DeviceMemoryError; the next one takes less or is slower.
/// None for several images if the method or solver asked for takes one at a time.
std::vector<RunForm> forms_to_try(const Grid& grid, int images, const RunParameters& parameters,
                                  const DeviceInfo& device);

/// The first of the forms that fits the device by the table of device_memory(). `limit`: of the
/// device memory held at once, bytes; 0: the device's memory. Throws DeviceMemoryError, naming an
/// image that would fit, if none of them does.
const RunForm& first_that_fits(std::span<const RunForm> forms, const DeviceInfo& device,
                               std::uint64_t limit);

/// What a run takes on the device, by a table of measured bytes a pixel.
/// tests/device/pipeline/memory_table_test.cpp holds it between what runs take and 15% more.
DeviceMemory device_memory(const RunForm& form);

/// What the driver of a CPU takes for the compiled kernels of a run beside their buffers, bytes: 5
/// to 25 MB with PoCL.
constexpr std::uint64_t kKernelsOnCpu = std::uint64_t{12} << 20;

/// What one image of a run takes. `image`: its size before it is reduced.
MemoryNeed memory_need(const RunForm& form, const ImageSize& image, const WantedResults& results);

}  // namespace diacut
