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
#include "opencl/devices.hpp"

namespace diacut {

/// The parameters of a run, and what comes with its images and decides what it allocates.
struct RunParameters : Parameters {
  RunParameters() = default;
  /// Of images that come with nothing. Not explicit, because that is what parameters alone mean.
  RunParameters(const Parameters& parameters) : Parameters(parameters) {}

  ContourParameters contours;  ///< What `contour` means for these images.
  int feature_channels = 0;    ///< Channels of the images' features; 0: they have none.
  int labels = 0;              ///< Of the seeds; 0: not known, which counts as the fewest.
  bool eigenvectors = true;    ///< Whether anybody needs those of the image's own grid.

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
  std::uint64_t piece = 0;        ///< The largest allocation of all phases.

  /// The most of all phases, and the largest allocation.
  DeviceMemory memory() const;
  bool fits(const DeviceInfo& device, std::uint64_t limit) const;
};

/// The budget of images whose eigenvectors are computed together, by the solver that `parameters`
/// name; the other stages take them one by one. `form`: the form of the matrix that the eigensolver
/// reads.
PipelineBudget pipeline_budget(const Batch& batch, const RunParameters& parameters,
                               MatrixForm form = MatrixForm::kDia);

/// Whether contours need another boundary map than affinities: these are made from a thinned map,
/// through whose gaps the basins of a hierarchy would leak.
bool thins(const BoundaryParameters& boundary);

/// How an image of this size lies in a vector.
Grid grid_for(int width, int height);

/// Whether regions grow from seeds by a random walk.
bool walks(const Parameters& parameters);

/// Whether contours are made with eigenvectors of a decimated grid.
bool decimates(const RunParameters& parameters);

/// Whether a run needs the matrix: for eigenvectors, or for a random walk.
bool needs_matrix(const RunParameters& parameters);

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
