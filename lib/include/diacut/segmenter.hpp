#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/edges.hpp"
#include "diacut/eigenvectors.hpp"
#include "diacut/errors.hpp"
#include "diacut/features.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/memory_plan.hpp"
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
  double device_ms = 0;  ///< Time between the first and last command on the device, milliseconds;
                         ///< 0 for a stage that does not use the device.
};

/// How labels grew from seeds.
struct WalkReport {
  int labels = 0;      ///< Different labels of the seeds.
  int iterations = 0;  ///< Iterations of conjugate gradients.
  /// The largest error of a label's probabilities, as WalkerParameters::tolerance has it.
  double error = 0;
  bool converged = false;  ///< Whether it is at most that tolerance.
};

/// What a segmentation took.
struct RunCosts {
  std::vector<StageTime> times;  ///< The stages that ran, in their order.
  /// What was announced before the run, of all images that were begun together.
  MemoryPlan memory_plan;
  std::uint64_t device_peak_bytes = 0;  ///< The most device memory held at once, bytes.
  /// Device memory that is free after the run but kept for the next run, bytes; not in
  /// `device_peak_bytes`. It is given up where it is in the way of another allocation. Always 0 on
  /// a CPU.
  std::uint64_t device_kept_bytes = 0;
  /// Programs of kernels that the driver built for this run, or had kept; 0 where the run before
  /// needed the same.
  int programs_built = 0;
  double programs_ms = 0;             ///< What that took, milliseconds.
  std::uint64_t host_peak_bytes = 0;  ///< The process's largest resident size so far, bytes.
  /// The process's resident size when the first image was begun, without that image, bytes: what
  /// MemoryPlan::host_bytes() comes on top of.
  std::uint64_t host_before_bytes = 0;
};

/// All results for one image. It owns everything that it holds.
struct Segmentation {
  Labels labels;  ///< The regions.
  /// With RegionMethod::kHierarchy and kObjects: the boundary map and the spectral contour
  /// together, not thinned: width * height values in [0, 1], row by row from the top left, 0 where
  /// the image has no data. Else empty.
  std::vector<float> contours;
  /// With RegionMethod::kHierarchy: the merge tree that `labels` is a cut of. With kObjects: the
  /// merge tree whose cut has the objects among its regions. Else empty.
  std::optional<Hierarchy> hierarchy;
  /// With RegionMethod::kObjects: how likely each pixel lies inside of an object, as `contours`.
  /// Else empty.
  std::vector<float> inside;
  /// With seeds: for each region, from region 1 on, the label of the seeds that it grew from
  /// (RegionMethod::kWalker) or holds (kHierarchy), 0 where there are none; several regions may
  /// have one label. Else empty.
  std::vector<std::int32_t> seed_labels;
  /// With RegionMethod::kWalker, if they are kept: for each label of the seeds, ascending, the
  /// probability that a random walker from a pixel meets a seed of that label first: width * height
  /// values in [0, 1], row by row from the top left, 0 where the image has no data.
  std::vector<std::vector<float>> probabilities;
  std::optional<WalkReport> walk;  ///< With RegionMethod::kWalker.
  /// With RegionMethod::kKway: sum over the regions of the weight that leaves a region divided by
  /// the sum of the region's degrees (Yu and Shi 2003).
  std::optional<double> normalized_cut;
  /// With features: AffinityParameters::feature_scale, or what was taken from the data in its
  /// place; else 0.
  double feature_scale = 0;
  /// Eigenvalues, report, and eigenvectors if they are kept; with RegionMethod::kWalker none.
  Eigenvectors eigenvectors;
  RunCosts costs;                  ///< Time and memory.
  std::vector<std::string> notes;  ///< What a person should know; the image's notes come first.
};

/// The stages' own form of a BegunSegmentation; not for callers.
struct UnfinishedSegmentation;
/// The stages on a device; not for callers.
class Stages;

/// A segmentation whose work on the device is done, as Segmenter::begin() returns it. It refers to
/// neither the Segmenter nor the image, so that another thread may finish it while the Segmenter
/// works on the next image.
class BegunSegmentation {
 public:
  /// Nothing to finish: finish() returns an empty result.
  BegunSegmentation() = default;

  /// Does the work that is left to the host: with RegionMethod::kHierarchy and kObjects the stage
  /// "regions", else nothing. It consumes the object: call it as std::move(begun).finish(). Throws
  /// CancelledError when the caller stops the work; what the work on the device failed of, when the
  /// image was begun together with others; DeviceError when results are verified
  /// (Segmenter::verify_results()) and differ.
  Segmentation finish(const Watch& watch = {}) &&;

  /// What the work on the device failed of. Returns what finish() is going to throw for it; null:
  /// nothing failed.
  std::exception_ptr failure() const { return failure_; }

 private:
  friend class Segmenter;
  explicit BegunSegmentation(UnfinishedSegmentation begun);
  /// Has finish() compare the results with those of the image begun once more on this device.
  void compare_with(BegunSegmentation again, const std::string& device);

  Segmentation result_;
  std::function<void(Segmentation&, const Watch&)> host_work_;  ///< Empty: nothing is left to do.
  std::exception_ptr failure_;
  std::unique_ptr<BegunSegmentation> again_;  ///< Null: nothing to compare with.
  std::string device_;
};

/// One of several images to segment.
struct ImageToSegment {
  const Image* image = nullptr;    ///< The image; not owned.
  const EdgeMap* edges = nullptr;  ///< A boundary map in place of diacut's own, or null; not owned.
  /// With RegionMethod::kWalker the seeds; with kHierarchy seeds that the hierarchy is cut by, in
  /// place of region.regions and region.threshold, or null; else null. Not owned.
  const Seeds* seeds = nullptr;
  /// Features that affinities are computed from (AffinityParameters), or null; not owned.
  const FeatureMap* features = nullptr;
  /// With RegionMethod::kWalker lines that labels must not cross, or null; not owned. A barrier's
  /// own pixels get the label of one of its sides, and the probability 0.
  const Barriers* barriers = nullptr;
  /// With RegionMethod::kWalker the probabilities that an earlier walk over the image found, which
  /// the linear systems then start from, or null; not owned. The k-th are those of the k-th label
  /// of the seeds, ascending; labels beyond the last one start from 0. They change how many
  /// iterations a walk takes, and labels no more than the tolerance does.
  const Probabilities* start = nullptr;
};

/// A segmentation's labels as files and arrays hold them. Returns Segmentation::labels; with seeds
/// their labels in the place of the regions' numbers, and the largest of them as the count.
Labels written_labels(const Segmentation& segmentation);

/// Checks what a Segmenter would be given, with the networks and weights that it names, before a
/// device is opened. Throws ConfigError as the constructor of Segmenter does. Throws InputError
/// when a network or a file of weights cannot be used.
void check_parameters(const Parameters& parameters);

/// Segments images on one device. Building one opens the device; it may then segment any number of
/// images, from one thread at a time. The same image, parameters, device and driver give the same
/// result, to the bit.
class Segmenter {
 public:
  /// Opens the device. `device`: as choose_device() takes it. `kernel_dir`: a folder to
  /// read the OpenCL kernels from; empty: those built in. Throws Error as check_parameters() does.
  /// Throws ConfigError for a device that makes no sense. Throws DeviceError when there is no
  /// device or it cannot be opened.
  explicit Segmenter(const Parameters& parameters = {}, const std::string& device = {},
                     const std::string& kernel_dir = {});
  ~Segmenter();
  /// Takes a segmenter over, which may only be destroyed or assigned to afterwards.
  Segmenter(Segmenter&&) noexcept;
  /// Takes a segmenter over, which may only be destroyed or assigned to afterwards.
  Segmenter& operator=(Segmenter&&) noexcept;

  /// The device that was opened. Returns what it says of itself; lives as long as the Segmenter.
  const DeviceInfo& device() const;

  /// The parameters that images are segmented with. Returns as they were given; lives as long as
  /// the Segmenter.
  const Parameters& parameters() const;

  /// Limits the device memory that is held at once. `bytes`: the limit; 0: the device's memory.
  void limit_device_memory(std::uint64_t bytes);

  /// Says whether results hold Eigenvectors::vectors and Eigenvectors::sqrt_degree, which take
  /// about 18 floats a pixel and the time to fetch them from the device. Where they do not, and
  /// contours do not take the spectral contour in either (ContourParameters::spectral), no
  /// eigenvectors are computed, which is what takes the most time, and results hold no eigenvalues.
  /// `keep`: whether they do; they do until this is called.
  void keep_eigenvectors(bool keep);

  /// Says whether results of RegionMethod::kWalker hold Segmentation::probabilities, which take a
  /// float for each pixel and label. `keep`: whether they do; they do not until this is called.
  void keep_probabilities(bool keep);

  /// Says whether each image is segmented twice, from the upload of the networks to the last
  /// result, and results are given only where both agree to the byte. It takes twice the time.
  /// `verify`: whether it is; it is not until this is called.
  void verify_results(bool verify);

  /// Says whom to tell that the driver compiles kernels, which takes seconds when a device is used
  /// for the first time: drivers keep what they compiled. `tell` is called from begin() and
  /// segment() when a program of kernels took longer than 0.2 seconds to build and others may
  /// follow; empty: nobody is told.
  void on_compiling(std::function<void()> tell);

  /// Segments one image. Throws InputError when there is nothing to segment. Throws ConfigError
  /// when more regions are wanted than the image has pixels with data. Throws DeviceError when the
  /// image does not fit the device, or the device fails. Throws NumericalError when arithmetic goes
  /// wrong. Throws CancelledError when the caller stops the work. After any of these errors the
  /// next image may be tried. A device that does not answer is not asked again.
  Segmentation segment(const Image& image, const Watch& watch = {});

  /// Segments one image with everything that may come with it. Throws Error as begin() of such an
  /// image does.
  Segmentation segment(const ImageToSegment& image, const Watch& watch = {});

  /// Does the part of segment() that needs the device. A caller with many images can let another
  /// thread do the other part, BegunSegmentation::finish(), while the device works on the next
  /// image. What the argument names is not needed after the call. Throws Error as segment() of an
  /// image alone does; InputError also when a boundary map has not the image's size, the method
  /// needs seeds and there are none, when seeds have not the image's size, lie where the image has
  /// no data, or have fewer than two different labels, and when features are not as FeatureMap says
  /// or do not fit the image; ConfigError when there are seeds and the method needs none, and when
  /// there are features and the method, or a boundary map beside them, has no use for them;
  /// InputError and ConfigError also for barriers of another size than the image, on seeds, or
  /// where nothing heeds them: with another method, and with features alone; and for a start of
  /// another size than the image, with more labels than the seeds have or a number that is not in
  /// [0, 1], or beside another method, features, or an affinity.scale below 0.0125.
  BegunSegmentation begin(const ImageToSegment& image, const Watch& watch = {});

  /// Does the part of segment() that needs the device for several images. Images of one size go
  /// through the eigensolver together, as many as fit the device's memory, because a small image
  /// cannot fill a GPU by itself. The results are those of begin() for each image alone. Returns
  /// what remains to be finished, in the order of `images`. An image that fails leaves the others
  /// alone: its finish() throws what it failed of. Throws CancelledError when the caller stops the
  /// work.
  std::vector<BegunSegmentation> begin(std::span<const ImageToSegment> images,
                                       const Watch& watch = {});

  /// Up to how many pixels in all it is faster to begin several images together than one by one.
  /// Returns working pixels of all images together; 0 on a CPU, which one image fills.
  std::int64_t pixels_together() const;

  /// How many pixels of an image the device works on. Returns the image's pixels, or, if regions
  /// are found in a reduced image (ImageParameters::detail), those of the reduced image.
  std::int64_t working_pixels(const Image& image) const;

  /// Holds the device to known answers of the stages that segmentations go through: boundary map,
  /// contours and their directions, and, where there are eigenvectors, affinities. To be called
  /// before many images are segmented; it takes some hundredths of a second, and the programs that
  /// it builds are those that the first image needs. `own_maps`: whether images come with boundary
  /// maps or features of the caller's, so that no boundary map is computed. Throws DeviceError
  /// naming the device and the stage where an answer is wrong, and as segment() does.
  void check_device(bool own_maps = false);

 private:
  Stages& stages();
  /// As begin(), without a second computation.
  std::vector<BegunSegmentation> begin_once(std::span<const ImageToSegment> images,
                                            const Watch& watch);

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diacut
