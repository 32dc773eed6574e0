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
#include "opencl/device_memory.hpp"

namespace diacut {

/// The parameters of a run, and what comes with its images and decides what it allocates.
struct RunParameters : Parameters {
  RunParameters() = default;
  /// Of images that come with nothing. Not explicit, because that is what parameters alone mean.
  RunParameters(const Parameters& parameters) : Parameters(parameters) {}

  int feature_channels = 0;  ///< Channels of the images' features; 0: they have none.
  int labels = 0;            ///< Of the seeds; 0: not known, which counts as the fewest.

  bool has_features() const { return feature_channels > 0; }
  /// Whether there is a boundary map.
  bool has_boundary() const { return !has_features() || affinity.with_boundary; }
};

/// What a run takes on the device, bytes, phase by phase. Stages free what later stages do not
/// read, so the largest phase must fit the device, not their sum. tests/device/pipeline/
/// segmenter_memory_test.cpp holds the largest phase within a tenth of what runs take.
struct PipelineBudget {
  std::uint64_t boundaries = 0;   ///< Computing the boundary map, and the matrix from it.
  std::uint64_t compression = 0;  ///< Compressing the matrix; 0: it is not compressed.
  std::uint64_t eigen = 0;        ///< Computing the eigenvectors, or the random walk; 0: neither.
  std::uint64_t contours = 0;     ///< Computing the contours, with RegionMethod::kHierarchy.
  std::uint64_t regions = 0;      ///< Cutting by the eigenvectors, with RegionMethod::kKway.
  std::uint64_t piece = 0;        ///< The largest allocation of all phases.

  /// The most of all phases, and the largest allocation.
  DeviceMemory memory() const;
  bool fits(const DeviceInfo& device, std::uint64_t limit) const;
};

/// The budget of one image with the solver that `parameters` name. `form`: the form of the matrix
/// that the eigensolver reads.
PipelineBudget pipeline_budget(const Grid& grid, const RunParameters& parameters,
                               MatrixForm form = MatrixForm::kDia);
/// The budget of several images whose eigenvectors are computed together; the other stages take
/// them one by one.
PipelineBudget pipeline_budget(const Batch& batch, const RunParameters& parameters,
                               MatrixForm form = MatrixForm::kDia);

/// Whether contours need another boundary map than affinities: these are made from a thinned map,
/// through whose gaps the basins of a hierarchy would leak.
bool thins(const CueParameters& cue);

/// Whether the eigensolver can read a compressed matrix, the whole matrix being given up. Direct
/// cuts need the whole matrix after the eigensolver; Spectra and a kernel asked for by name read
/// it; the compressed form knows no strides.
bool compressible(const Parameters& parameters);

/// Whether a run fits with a compressed matrix. `limit` as in PipelineBudget::fits().
bool fits_compressed(const Grid& grid, const RunParameters& parameters, const DeviceInfo& device,
                     std::uint64_t limit);

/// The largest grid with the proportions of `grid` on which a run with the parameters' solver fits,
/// the matrix being whole or compressed; nothing if not even one pixel fits. `limit` as in
/// PipelineBudget::fits().
std::optional<Grid> largest_grid(const Grid& grid, const RunParameters& parameters,
                                 const DeviceInfo& device, std::uint64_t limit);

/// Throws DeviceError, naming the largest image that would fit, when `budget` does not fit. `limit`
/// as in PipelineBudget::fits().
void check_memory(const PipelineBudget& budget, const Grid& grid, const RunParameters& parameters,
                  const DeviceInfo& device, std::uint64_t limit);

/// How an image of this size lies in a vector.
Grid grid_for(int width, int height);

/// Whether regions grow from seeds by a random walk.
bool walks(const Parameters& parameters);

/// Whether contours are made with eigenvectors of a decimated grid.
bool decimates(const RunParameters& parameters);

/// Whether a run with these parameters computes eigenvectors of the image's own grid: for a
/// hierarchy unless eigen.vectors is 0, and for direct cuts.
bool needs_eigenvectors(const Parameters& parameters);

/// Whether a run needs the matrix: for eigenvectors, or for a random walk.
bool needs_matrix(const Parameters& parameters);

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
