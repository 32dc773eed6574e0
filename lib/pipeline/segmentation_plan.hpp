#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/memory_plan.hpp"
#include "diacut/parameters.hpp"
#include "image/resize.hpp"
#include "matrix/block.hpp"
#include "matrix/grid.hpp"
#include "matrix/matvec.hpp"
#include "pipeline/pipeline_budget.hpp"

namespace diacut {

/// How images are segmented: as was asked for, as far as that fits the device. In all functions of
/// this header `limit` is of the device memory held at once, bytes; 0: the device's memory.
struct SegmentationPlan {
  /// A plan for these images with these parameters.
  SegmentationPlan(const Batch& images, const RunParameters& usable)
      : batch(images), parameters(usable) {}

  Batch batch;
  RunParameters parameters;
  MatvecChoice product;
  /// The form of the matrix that the eigensolver reads, or the V-cycle of a random walk.
  MatrixForm form = MatrixForm::kDia;
  PipelineBudget budget;
  std::vector<std::string> notes;  ///< What a person should know of these choices.
};

/// Whether the regions of a hierarchy merge by probability. `own_map`: no network makes the
/// boundary map, because it is the user's or there is none.
bool merges_by_probability(const Parameters& parameters, bool own_map);

/// The plan for one image. Throws DeviceError when no solver and no form of the matrix fits.
SegmentationPlan plan_for_image(const Grid& grid, const RunParameters& parameters,
                                const DeviceInfo& device, std::uint64_t limit);

/// The plan for several images of one size whose eigenvectors are computed together; nothing if
/// they do not fit, or if the method or solver asked for takes one image at a time.
std::optional<SegmentationPlan> plan_for_batch(const Grid& grid, int images,
                                               const RunParameters& parameters,
                                               const DeviceInfo& device, std::uint64_t limit);

/// The parameters, with the device's solver in place of SolverKind::kAuto, and with Lanczos, which
/// is slower and needs less memory, in place of a multilevel solver that fits with no form of the
/// matrix.
RunParameters solver_that_fits(const Grid& grid, const RunParameters& parameters,
                               const DeviceInfo& device, std::uint64_t limit);

/// Pixels from which a hierarchy's matrix is compressed on a CPU, where that is as fast, and the
/// V-cycle's of a random walk on a GPU, where from there on it is faster.
inline constexpr std::size_t kCompressedFrom = std::size_t{1} << 20;

/// The form of the matrix for a run with the parameters of solver_that_fits(): compressed where the
/// whole matrix does not fit, and on a CPU from kCompressedFrom pixels on; whole where it cannot
/// be compressed (see compressible()). For a random walk it is the form of the V-cycle's matrices,
/// beside the whole matrix: compressed where both fit, on a GPU from kCompressedFrom pixels on and
/// for the labels of one narrow block.
MatrixForm form_that_fits(const Grid& grid, const RunParameters& parameters,
                          const DeviceInfo& device, std::uint64_t limit);

/// The product for a run. Where the choice is left open, Lanczos gets the compressed form if it
/// fits beside everything else. The multilevel solver has products of its own: where a kernel is
/// asked for with it, the note says that the kernel is for Lanczos, to which the solver may leave
/// an image. Where the compressed form is asked for with it, the choice for Lanczos is left open.
MatvecChoice product_that_fits(const Grid& grid, const RunParameters& parameters,
                               const DeviceInfo& device, std::uint64_t limit);

/// What main memory holds of an image.
struct HostImage {
  PictureSize full;
  int channels = 3;
  bool masked = false;           ///< Whether there are pixels without data.
  std::uint64_t file_bytes = 0;  ///< As ImageSize::file_bytes.
  FeatureSize features = {};     ///< Of the image's features; else without channels.
  bool verified = false;         ///< As Segmenter::verify_results().
};

/// The memory of a run by this plan, that of the images themselves included. `images`: as many as
/// the plan is for.
MemoryPlan memory_plan(const SegmentationPlan& plan, std::span<const HostImage> images,
                       const DeviceInfo& device);

}  // namespace diacut
