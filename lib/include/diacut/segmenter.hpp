#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diacut/boundary_map.hpp"
#include "diacut/device.hpp"
#include "diacut/eigenvectors.hpp"
#include "diacut/errors.hpp"
#include "diacut/features.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/memory.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "diacut/seeds.hpp"

/// @file
/// From images to segmentations on one OpenCL device: one image at a time with
/// diacut::Segmenter::segment(), or many with begin() and finish().
namespace diacut {

/// How long a stage took. Images that were segmented together get equal shares of the times.
struct StageTime {
  std::string stage;     ///< The stage's name, as "eigenvectors".
  double wall_ms = 0;    ///< Time on the wall, milliseconds.
  double device_ms = 0;  ///< From the first to the last command on the device, milliseconds, or 0.
};

/// How labels grew from seeds.
struct WalkReport {
  int labels = 0;          ///< Different labels of the seeds.
  int iterations = 0;      ///< Iterations of conjugate gradients.
  double error = 0;        ///< The largest error of a label's solution, as WalkerParameters has it.
  bool converged = false;  ///< Whether it is at most that tolerance.
};

/// What a segmentation took.
struct RunCosts {
  std::vector<StageTime> times;         ///< The stages that ran, in their order.
  MemoryNeed announced;                 ///< Before the run, of all images that were begun together.
  std::uint64_t device_peak_bytes = 0;  ///< The most device memory held at once, bytes.
  /// Device memory that is kept for the next run, bytes; not in `device_peak_bytes`. It is given up
  /// where it is in the way of another allocation. 0 on a CPU.
  std::uint64_t device_kept_bytes = 0;
  int programs_built = 0;               ///< Programs of kernels that the run before did not need.
  double programs_ms = 0;               ///< The time until the driver had them, milliseconds.
  std::uint64_t host_peak_bytes = 0;    ///< The process's largest resident size so far, bytes.
  std::uint64_t host_before_bytes = 0;  ///< What MemoryNeed::host_bytes comes on top of, bytes.
};

/// What every segmentation of an image holds, whichever method (RegionMethod) made it; each method
/// adds what its type says. It owns everything that it holds. Maps are width * height values in
/// [0, 1], row by row from the top left, 0 where the image has no data.
struct Segmentation {
  Segmentation() = default;
  virtual ~Segmentation() = default;
  Segmentation(Segmentation&&) = default;             ///< Takes all results over.
  Segmentation& operator=(Segmentation&&) = default;  ///< Takes all results over.

  Labels labels;                   ///< The regions.
  Eigenvectors eigenvectors;       ///< Eigenvalues, report, and eigenvectors if they are kept.
  double feature_scale = 0;        ///< That affinities by features had; 0: they were by boundaries.
  RunCosts costs;                  ///< Time and memory.
  std::vector<std::string> notes;  ///< What a person should know; the image's notes come first.
};

/// Regions that are a cut of a hierarchy.
struct HierarchyCut : Segmentation {
  Hierarchy hierarchy;                   ///< The merge tree that `labels` is a cut of.
  std::vector<float> contours;           ///< Boundary map and spectral contour, not thinned.
  ContourParameters contour_parameters;  ///< How `contours` were made.
};

/// The largest regions of a hierarchy that hold no seeds of two labels (cut_by_seeds()).
struct SeededCut : HierarchyCut {
  std::vector<std::int32_t> seed_labels;  ///< As SeededRegions::seed_labels.
};

/// Objects: those regions of a cut of `hierarchy` that lie inside of objects.
struct Objects : HierarchyCut {
  std::vector<float> inside;  ///< How likely each pixel lies inside of an object.
};

/// Regions by direct cuts.
struct KwayCut : Segmentation {
  /// Sum over the regions of the weight that leaves a region divided by the sum of the region's
  /// degrees (Yu and Shi 2003).
  double normalized_cut = 0;
};

/// Regions that grew from seeds: the connected parts of each label.
struct SeedGrowth : Segmentation {
  /// The label of the seeds that each region grew from, from region 1 on; 0 where no seed can be
  /// reached.
  std::vector<std::int32_t> seed_labels;
  /// For each label of the seeds, ascending, the map of the probability that a random walker from a
  /// pixel meets a seed of that label first; none unless Segmenter::keep_probabilities().
  std::vector<std::vector<float>> probabilities;
  WalkReport walk;  ///< How they grew.
};

/// The stages' own form of a BegunSegmentation; not for callers.
struct UnfinishedSegmentation;
/// The stages on a device; not for callers.
class Stages;

/// A segmentation whose work on the device is done. It refers to neither the Segmenter nor the
/// image, so that another thread may finish it while the Segmenter works on the next image.
class BegunSegmentation {
 public:
  /// Nothing to finish: finish() returns a Segmentation without regions.
  BegunSegmentation() = default;

  /// Does the work that is left to the host: the stage "regions", but for RegionMethod::kWalker,
  /// and the stage "placement". Returns a HierarchyCut, a SeededCut, Objects, a KwayCut or a
  /// SeedGrowth, as Segmenter::begin() says; never null. It consumes the object: call it as
  /// std::move(begun).finish(). Throws CancelledError when the caller stops the work; what the work
  /// on the device failed of, when the image was begun together with others; DeviceError when
  /// results are verified (Segmenter::verify_results()) and differ.
  std::unique_ptr<Segmentation> finish(const Watch& watch = {}) &&;

  /// What the work on the device failed of, which finish() throws; null: nothing failed.
  std::exception_ptr failure() const;

 private:
  friend class Segmenter;

  std::shared_ptr<UnfinishedSegmentation> begun_;  ///< Null: nothing to finish.
};

/// An image to segment, and what its pixels are compared by. Nothing is owned.
struct ImageToSegment {
  /// Not explicit: an image alone is compared by diacut's own boundary map.
  ImageToSegment(const Image& given, const BoundaryMap* map = nullptr,
                 const FeatureMap* own = nullptr)
      : image(&given), boundary_map(map), features(own) {}

  const Image* image;               ///< Never null.
  const BoundaryMap* boundary_map;  ///< In place of diacut's own; null: that.
  const FeatureMap* features;       ///< That affinities are computed from; null: from the map.
};

/// An image with seeds. Nothing is owned.
struct SeededImage : ImageToSegment {
  /// An image and its seeds.
  SeededImage(const ImageToSegment& given, const Seeds& labels)
      : ImageToSegment(given), seeds(&labels) {}

  const Seeds* seeds;  ///< Never null.
  /// Lines that labels must not cross; null: there are none. A barrier's own pixels get the label
  /// of one of its sides, and the probability 0.
  const Barriers* barriers = nullptr;
  /// The probabilities that an earlier walk over the image found, which the linear systems then
  /// start from; null: from 0. The k-th are those of the k-th label of the seeds, ascending; labels
  /// beyond the last one start from 0. They change how many iterations a walk takes, and labels no
  /// more than the tolerance does.
  const Probabilities* start = nullptr;
};

/// Checks what a Segmenter would be given, before a device is opened. Throws ConfigError as
/// validate() does, InputError when a network or a file of weights that the parameters name cannot
/// be used.
void check_parameters(const Parameters& parameters);

/// Segments images on one device. Building one opens the device; it may then segment any number of
/// images, from one thread at a time. The same image, parameters, device and driver give the same
/// result, to the bit.
class Segmenter {
 public:
  /// Opens the device. `device`: as choose_device() takes it. `kernel_dir`: a folder to read the
  /// OpenCL kernels from; empty: those built in. Throws as check_parameters() and choose_device()
  /// do, and DeviceError when the device cannot be opened.
  explicit Segmenter(const Parameters& parameters = {}, const std::string& device = {},
                     const std::string& kernel_dir = {});
  ~Segmenter();
  /// Takes a segmenter over, which may only be destroyed or assigned to afterwards.
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;  ///< As that constructor.

  const DeviceInfo& device() const;      ///< The device; lives as long as the Segmenter.
  const Parameters& parameters() const;  ///< The parameters; live as long as the Segmenter.

  /// Limits the device memory that is held at once. `bytes`: the limit; 0: the device's memory.
  void limit_device_memory(std::uint64_t bytes);

  /// Says whether results hold Eigenvectors::vectors and Eigenvectors::sqrt_degree, about 18 floats
  /// a pixel; they do not until this is called. Then eigenvectors of the image's own grid are
  /// computed for every image, which takes the most time. Else they are only where
  /// ContourChoice::spectral or RegionMethod::kKway needs them, and where nothing does, results
  /// hold no eigenvalues.
  void keep_eigenvectors(bool keep);

  /// Says whether results hold SeedGrowth::probabilities, a float for each pixel and label; they do
  /// not until this is called.
  void keep_probabilities(bool keep);

  /// Says whether each image is segmented twice, from the upload of the networks on, and results
  /// are given only where both agree to the byte; it is not until this is called.
  void verify_results(bool verify);

  /// Sets what is called when the driver compiles kernels, which takes seconds when a device is
  /// used for the first time. begin() and segment() call `tell` when a program of kernels took
  /// longer than 0.2 seconds to build and others may follow; may be empty.
  void on_compiling(std::function<void()> tell);

  /// Finds regions as a cut of a hierarchy. This and the next three calls have a method of their
  /// own, whatever Parameters::region.method says, which is for begin() alone. They throw as
  /// begin() and BegunSegmentation::finish() do.
  HierarchyCut segment(const ImageToSegment& image, const Watch& watch = {});
  /// Finds objects before a background.
  Objects find_objects(const Image& image, const Watch& watch = {});
  /// Finds regions by direct cuts.
  KwayCut cut(const ImageToSegment& image, const Watch& watch = {});
  /// Grows labels from seeds.
  SeedGrowth grow(const SeededImage& image, const Watch& watch = {});

  /// Does the part of a segmentation by region.method that needs the device. A caller with many
  /// images can let another thread do the other part, BegunSegmentation::finish(), while the device
  /// works on the next image. What the argument names is not needed after the call. Throws
  /// InputError when there is nothing to segment; when a boundary map, seeds, barriers or a start
  /// have another size than the image; when seeds are not as check_seeds() wants them, or the
  /// method needs them and there are none; when features are not as FeatureMap says or do not fit
  /// the image; when barriers lie on seeds; when a start has more labels than the seeds or a number
  /// that is not in [0, 1]. Throws ConfigError when more regions are wanted than the image has
  /// pixels with data, and for what nothing heeds: what comes with the image and the method does
  /// not take; a boundary map or barriers with features alone; a start with features, or with an
  /// affinity.scale below 0.0125. Throws DeviceError when the image does not fit the device, or the
  /// device fails; NumericalError when arithmetic goes wrong; CancelledError when the caller stops
  /// the work. After any of these errors the next image may be tried. A device that does not answer
  /// is not asked again.
  BegunSegmentation begin(const ImageToSegment& image, const Watch& watch = {});
  /// As begin() of an image, with RegionMethod::kWalker or kHierarchy.
  BegunSegmentation begin(const SeededImage& image, const Watch& watch = {});

  /// As begin() of each image alone, in the order of `images`. Images of one size go through the
  /// eigensolver together, as many as fit the device's memory, because a small image cannot fill a
  /// GPU by itself. An image that fails leaves the others alone: its finish() throws what it failed
  /// of. Throws CancelledError when the caller stops the work.
  std::vector<BegunSegmentation> begin(std::span<const ImageToSegment> images,
                                       const Watch& watch = {});
  /// As begin() of images with seeds.
  std::vector<BegunSegmentation> begin(std::span<const SeededImage> images,
                                       const Watch& watch = {});

  /// The most working pixels in all that are faster begun together than one by one; 0 on a CPU.
  std::int64_t pixels_together() const;

  /// How many pixels the device works on: the image's, or as ImageParameters::detail reduces them.
  std::int64_t working_pixels(const Image& image) const;

  /// Holds the device to known answers of the stages that segmentations go through: boundary map,
  /// contours and their directions, and, where there are eigenvectors, affinities. It takes some
  /// hundredths of a second, and the programs that it builds are those that the first image needs.
  /// `own_maps`: whether images come with boundary maps or features, so that no boundary map is
  /// computed. Throws DeviceError naming the device and the stage where an answer is wrong, and as
  /// segment() does.
  void check_device(bool own_maps = false);

 private:
  Stages& stages();

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diacut
