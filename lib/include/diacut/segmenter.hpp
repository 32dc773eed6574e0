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
  std::string stage;     ///< The stage's name, such as "eigenvectors".
  double wall_ms = 0;    ///< Wall-clock time, milliseconds.
  double device_ms = 0;  ///< From the first to the last command on the device, milliseconds, or 0.
};

/// How labels grew from seeds.
struct WalkReport {
  int labels = 0;          ///< Number of different seed labels.
  int iterations = 0;      ///< Iterations of conjugate gradients.
  double error = 0;        ///< The largest error of a label's solution (WalkerParameters).
  bool converged = false;  ///< Whether `error` is within the tolerance.
};

/// What a segmentation took.
struct RunCosts {
  std::vector<StageTime> times;         ///< The stages that ran, in their order.
  MemoryNeed announced;                 ///< Announced for all images begun together.
  std::uint64_t device_peak_bytes = 0;  ///< The most device memory held at once, bytes.
  /// Device memory that is kept for later steps, bytes; not in `device_peak_bytes`. A GPU's is
  /// released as soon as another allocation needs it; a CPU's is main memory, at most 128 MiB.
  std::uint64_t device_kept_bytes = 0;
  int programs_built = 0;               ///< Programs of kernels that were built for it.
  double programs_ms = 0;               ///< Time to build them, milliseconds.
  std::uint64_t host_peak_bytes = 0;    ///< The process's largest resident size so far, bytes.
  std::uint64_t host_before_bytes = 0;  ///< That size before the run, bytes.
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
  double feature_scale = 0;        ///< Scale of affinities by features; 0: by boundaries.
  RunCosts costs;                  ///< Time and memory.
  std::vector<std::string> notes;  ///< For the user; the image's notes come first.
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

/// Objects: the regions of a cut of `hierarchy` that lie inside objects.
struct Objects : HierarchyCut {
  std::vector<float> inside;  ///< The probability that each pixel lies inside an object.
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
  /// One map for each seed label, in ascending order: the probability that a random walker from a
  /// pixel meets a seed of that label first. Empty unless Segmenter::keep_probabilities().
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
  /// An empty one: finish() returns a Segmentation without regions.
  BegunSegmentation() = default;

  /// Runs the stages that need no device: "regions" (except with RegionMethod::kWalker) and
  /// "placement". Returns a HierarchyCut, SeededCut, Objects, KwayCut or SeedGrowth, by the method
  /// given to Segmenter::begin(); never null. It consumes the object: call it as
  /// std::move(begun).finish(). Throws CancelledError when the caller stops the work; failure(), if
  /// the image was begun together with others; DeviceError when results are verified
  /// (Segmenter::verify_results()) and differ.
  std::unique_ptr<Segmentation> finish(const Watch& watch = {}) &&;

  /// The error of the work on the device, which finish() throws; null: there is none.
  std::exception_ptr failure() const;

 private:
  friend class Segmenter;

  std::shared_ptr<UnfinishedSegmentation> begun_;  ///< Null: nothing to finish.
};

/// An image to segment, and optionally your own boundary map or features. Owns nothing.
struct ImageToSegment {
  /// Not explicit, so that an image alone can be passed: diacut then computes the boundary map.
  ImageToSegment(const Image& given, const BoundaryMap* map = nullptr,
                 const FeatureMap* own = nullptr)
      : image(&given), boundary_map(map), features(own) {}

  const Image* image;               ///< Never null.
  const BoundaryMap* boundary_map;  ///< Replaces diacut's own; null: none.
  const FeatureMap* features;       ///< Affinities come from them; null: from the map.
};

/// An image with seeds. Nothing is owned.
struct SeededImage : ImageToSegment {
  /// An image and its seeds.
  SeededImage(const ImageToSegment& given, const Seeds& labels)
      : ImageToSegment(given), seeds(&labels) {}

  const Seeds* seeds;  ///< Never null.
  /// Lines that labels must not cross; null: none. Pixels of a barrier get the label of one of its
  /// sides, and the probability 0.
  const Barriers* barriers = nullptr;
  /// The probabilities of an earlier walk over the image, from which the linear systems start;
  /// null: they start from 0. The k-th map belongs to the k-th seed label in ascending order;
  /// labels without a map start from 0. They change the number of iterations, and the labels no
  /// more than the tolerance allows.
  const Probabilities* start = nullptr;
};

/// Checks the parameters of a Segmenter before a device is opened. Throws ConfigError as validate()
/// does, InputError when a network or a file of weights that the parameters name cannot be used.
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

  /// Chooses whether results hold Eigenvectors::vectors and Eigenvectors::sqrt_degree, about 18
  /// floats a pixel; the default is no. If they do, eigenvectors of the image's own grid are
  /// computed for every image, which takes most of the time. If not, these are computed only where
  /// ContourChoice::spectral or RegionMethod::kKway needs them; otherwise results hold no
  /// eigenvalues.
  void keep_eigenvectors(bool keep);

  /// Chooses whether results hold SeedGrowth::probabilities, a float for each pixel and label; the
  /// default is no.
  void keep_probabilities(bool keep);

  /// Chooses whether each image is segmented twice, from the upload of the networks on, and fails
  /// unless both results agree to the byte; the default is no.
  void verify_results(bool verify);

  /// Sets a function that is called when the driver compiles kernels, which takes seconds when a
  /// device is used for the first time. begin() and segment() call it when a program of kernels
  /// took longer than 0.2 seconds to build and others may follow. It may be empty.
  void on_compiling(std::function<void()> report);

  /// Finds regions as a cut of a hierarchy. Each of this and the next three calls has its own
  /// method and ignores Parameters::region.method, which only begin() uses. They throw as begin()
  /// and BegunSegmentation::finish() do.
  HierarchyCut segment(const ImageToSegment& image, const Watch& watch = {});
  /// Finds objects before a background.
  Objects find_objects(const Image& image, const Watch& watch = {});
  /// Finds regions by direct cuts.
  KwayCut cut(const ImageToSegment& image, const Watch& watch = {});
  /// Grows labels from seeds.
  SeedGrowth grow(const SeededImage& image, const Watch& watch = {});

  /// Runs the stages of region.method that need the device. If you have many images, let another
  /// thread call BegunSegmentation::finish() while the device works on the next image. What the
  /// argument points to is not needed after the call. Throws
  ///   - InputError when no pixel has data; when a boundary map, seeds, barriers or a start differ
  ///     in size from the image; when check_seeds() refuses the seeds, or the method needs seeds
  ///     and there are none; when features break the rules of FeatureMap or do not fit the image;
  ///     when barriers lie on seeds; when a start has more labels than the seeds or a number
  ///     outside [0, 1];
  ///   - ConfigError when more regions are wanted than the image has pixels with data; and for
  ///     input that would have no effect: of a kind that the method does not use, a boundary map or
  ///     barriers with features alone, a start with features or with an affinity.scale below
  ///     0.0125;
  ///   - DeviceError when the image does not fit the device, or the device fails; NumericalError
  ///     when arithmetic goes wrong; CancelledError when the caller stops the work.
  /// After any of these errors you may try the next image. A device that does not answer is not
  /// used again.
  BegunSegmentation begin(const ImageToSegment& image, const Watch& watch = {});
  /// As begin() of an image, with RegionMethod::kWalker or kHierarchy.
  BegunSegmentation begin(const SeededImage& image, const Watch& watch = {});

  /// Begins several images; the results are those of each image alone, in the order of `images`.
  /// Images of one size are computed together, as many as fit the device's memory, because a small
  /// image cannot fill a GPU by itself. If an image fails, its finish() throws the error, and the
  /// others go on. Throws CancelledError when the caller stops the work.
  std::vector<BegunSegmentation> begin(std::span<const ImageToSegment> images,
                                       const Watch& watch = {});
  /// As begin() of images with seeds.
  std::vector<BegunSegmentation> begin(std::span<const SeededImage> images,
                                       const Watch& watch = {});

  /// Up to how many working pixels in all it is faster to begin images together; 0 on a CPU.
  std::int64_t pixels_together() const;

  /// Uploads networks and builds kernels for images without boundary maps or features of their own,
  /// which else the first image waits for: call it where you wait for that image. Throws as
  /// segment() does.
  void prepare();

  /// The number of pixels after ImageParameters::detail has reduced the image.
  std::int64_t working_pixels(const Image& image) const;

  /// Compares the stages on the device with known answers: boundary map, contours and their
  /// directions, and affinities if there are eigenvectors. It takes some hundredths of a second,
  /// and builds only programs that the first image needs. `own_maps`: whether images come with
  /// boundary maps or features, so that no boundary map is computed. Throws DeviceError naming the
  /// device and the stage if an answer is wrong, and as segment() does.
  void check_device(bool own_maps = false);

 private:
  Stages& stages();

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diacut
