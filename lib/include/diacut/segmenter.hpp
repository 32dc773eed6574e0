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
#include "diacut/errors.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/image.hpp"
#include "diacut/labels.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"

namespace diacut {

/// How long a stage took, milliseconds: on the wall, and on the device between its first and last
/// command (0 for a stage that does not use it). An image that was segmented together with others
/// has its share of what all took.
struct StageTime {
  std::string stage;
  double wall_ms = 0;
  double device_ms = 0;
};

/// What the eigensolver did and how good the result is.
struct EigenReport {
  bool converged = false;
  /// "multilevel", "lanczos", "spectra" or "dense": what ran, which for small images or such as
  /// cannot be coarsened is not what was asked for.
  std::string solver;
  std::int64_t products = 0;  ///< Products with the matrix of one vector each, all of them.
  /// Times that the matrix was read for them: fewer where one pass serves several vectors.
  std::int64_t passes = 0;
  int levels = 1;    ///< Grids, the image's own included.
  int restarts = 0;  ///< Of Lanczos; iterations on all grids of the multilevel solver.
  int filter_degree = 1;
  /// Norms of A x - theta x, one a vector, the trivial one first.
  std::vector<double> residuals;
};

/// Eigenvectors of the normalized cut, (D - W) y = lambda D y, ascending in lambda.
/// vectors[k] is z = D^1/2 y, of unit norm, width * height values row by row, 0 where there is no
/// data; k = 0 is the trivial one. The entry of largest magnitude is positive.
struct Eigenvectors {
  int width = 0;
  int height = 0;
  std::vector<double> values;
  std::vector<std::vector<float>> vectors;
  /// Square roots of the degrees, width * height: y = z / sqrt_degree.
  std::vector<float> sqrt_degree;
  EigenReport report;
};

struct MemoryUse {
  std::string what;
  std::uint64_t bytes = 0;
};

struct Segmentation {
  Labels labels;
  /// With RegionMethod::kHierarchy: boundary strength in [0, 1] by the cue and the eigenvectors
  /// together, not thinned: width * height values, 0 where there is no data.
  std::vector<float> contours;
  /// With RegionMethod::kHierarchy; `labels` is a cut of it.
  std::optional<Hierarchy> hierarchy;
  Eigenvectors eigenvectors;
  std::vector<StageTime> times;
  /// The plan: every large allocation. They are not all held at once.
  std::vector<MemoryUse> device_memory;
  std::uint64_t device_peak_bytes = 0;  ///< The most that was held on the device at once.
  /// Free after the run, but kept on the device for the next one, which takes it over or, where it
  /// stands in the way, gives it up. Not counted in the peak; always 0 on a CPU.
  std::uint64_t device_kept_bytes = 0;
  std::uint64_t host_peak_bytes = 0;  ///< The process's largest resident size so far.
  std::string matvec;                 ///< The kernel that was used, "unrolled".
  std::vector<std::string> notes;     ///< What a person should know, the image's notes first.
};

/// A segmentation whose work on the device is done, as Segmenter::begin() gives it. It refers to
/// neither the Segmenter nor the image: another thread may finish it while the Segmenter is at the
/// next one.
class BegunSegmentation {
 public:
  /// What is left to the host: with RegionMethod::kHierarchy the stage "regions", else nothing. To
  /// be called once. Throws CancelledError, and of an image that was begun together with others
  /// what it failed of.
  Segmentation finish(const Watch& watch = {}) &&;

 private:
  friend class Segmenter;
  Segmentation result_;
  std::function<void(Segmentation&, const Watch&)> rest_;
  std::exception_ptr failure_;
};

/// One of several images to segment, with a boundary map in place of the cue's if `edges` is not
/// null.
struct ImageToSegment {
  const Image* image = nullptr;
  const EdgeMap* edges = nullptr;
};

/// From images to segmentations on one device. Building one opens the device; segment() may then
/// be called any number of times, from one thread at a time.
class Segmenter {
 public:
  /// `device` as choose_device() takes it. `kernel_dir`, if not empty, is a folder to read the
  /// kernels from instead of those built in. Throws ConfigError, DeviceError.
  explicit Segmenter(const Parameters& parameters = {}, const std::string& device = {},
                     const std::string& kernel_dir = {});
  ~Segmenter();
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;

  const DeviceInfo& device() const;
  const Parameters& parameters() const;

  /// At most this is held on the device at once, in bytes; 0: the device's memory.
  void limit_device_memory(std::uint64_t bytes);

  /// Whether results hold Eigenvectors::vectors and sqrt_degree, 18 floats a pixel that have to be
  /// fetched from the device. They do from the start; eigenvalues and report are there anyhow.
  void keep_eigenvectors(bool keep);

  /// Same image, parameters, device and driver: the same result. Throws InputError (nothing to
  /// segment), ConfigError (more regions than pixels), DeviceError (does not fit), CancelledError;
  /// after any of them the next image may be tried.
  Segmentation segment(const Image& image, const Watch& watch = {});
  /// The same with a boundary map in place of the cue's. Throws InputError, too, where it has not
  /// the image's size.
  Segmentation segment(const Image& image, const EdgeMap& edges, const Watch& watch = {});

  /// The part of segment() that needs the device, for callers that have many images: the rest is
  /// finish(), and segment() is both. `edges` may be null. Throws as segment() does.
  BegunSegmentation begin(const Image& image, const EdgeMap* edges, const Watch& watch = {});
  /// The same for several images, with the same results: those of one size go through the
  /// eigensolver together, as many as fit the device's memory. A small image cannot fill a GPU by
  /// itself. One that fails leaves the others alone and says so in finish(). Throws CancelledError.
  std::vector<BegunSegmentation> begin(std::span<const ImageToSegment> images,
                                       const Watch& watch = {});
  /// Of images that have no more pixels than this in all it is quicker to begin several together; 0
  /// on a CPU, which one image fills.
  std::int64_t pixels_together() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diacut
