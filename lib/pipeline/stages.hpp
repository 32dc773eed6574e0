#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boundary/boundary.hpp"
#include "boundary/network/device_network.hpp"
#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "diacut/segmenter.hpp"
#include "matrix/batch.hpp"
#include "matrix/dia_operator.hpp"
#include "opencl/buffer.hpp"
#include "opencl/context.hpp"
#include "pipeline/memory_budget.hpp"

namespace diacut {

/// How images are segmented: as was asked for, where that fits the device.
struct Course {
  Course(const Batch& images, const Parameters& usable) : batch(images), parameters(usable) {}

  Batch batch;
  Parameters parameters;
  MatvecChoice product;
  MatrixForm form = MatrixForm::kDia;  ///< Of the matrix that the eigensolver reads.
  RunBudget budget;
  std::vector<std::string> notes;  ///< What a person should know of these choices.
};

/// An image whose work on the device is done.
struct Begun {
  Segmentation result;
  /// What is left to do on the host, if anything.
  std::function<void(Segmentation&, const Watch&)> rest;
};

/// All stages in their order, from an image to its regions, on one device. The context and the
/// networks stay for the images to come.
class Stages {
 public:
  /// Opens the device: both as Context takes them. Throws ConfigError, DeviceError.
  Stages(const std::string& device, const std::string& kernel_dir);

  const DeviceInfo& device() const { return device_; }
  /// Of all that is held on the device at once, bytes; 0: the device's memory.
  std::uint64_t memory_limit() const { return memory_limit_; }
  void limit_memory(std::uint64_t bytes) { memory_limit_ = bytes; }
  /// As Segmenter::keep_eigenvectors().
  void keep_eigenvectors(bool keep) { keep_eigenvectors_ = keep; }

  /// As many images as the batch has: one, or for RegionMethod::kHierarchy several of one size.
  /// Nothing if several cannot go together. Throws InputError (a boundary map of another size),
  /// DeviceError, NumericalError, CancelledError; after any of them there may be another run.
  std::optional<std::vector<Begun>> run(std::span<const ImageToSegment> images,
                                        const Course& course, const Watch& watch);

 private:
  Context& opened();
  std::optional<std::vector<Begun>> run_all(std::span<const ImageToSegment> images,
                                            const Course& course, const Watch& watch);
  /// The boundary map that the affinity is made of. Adds to `cues` the map that contours need, if
  /// that is another one.
  BoundaryMap boundaries(Context& context, const ImageToSegment& asked, const Course& course,
                         std::vector<Buffer<float>>& cues);

  std::string kernel_dir_;
  DeviceInfo device_;
  std::uint64_t memory_limit_ = 0;
  bool keep_eigenvectors_ = true;
  std::optional<Context> context_;
  DeviceNetworks networks_;  // After the context, which must outlive it.
};

}  // namespace diacut
