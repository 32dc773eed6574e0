#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boundary/network/device_network.hpp"
#include "diacut/progress.hpp"
#include "diacut/segmenter.hpp"
#include "opencl/context.hpp"
#include "pipeline/run_forms.hpp"
#include "pipeline/working_image.hpp"

namespace diacut {

/// A segmentation whose work on the device is done.
struct UnfinishedSegmentation {
  std::unique_ptr<Segmentation> result;         ///< Of the method's type.
  std::function<void(const Watch&)> host_work;  ///< What is left to do for it on the host.
  std::exception_ptr failure;  ///< What the work on the device failed of; null: it did not fail.
  /// The image begun once more on that device, which has to give the same results; null: it is not.
  std::unique_ptr<UnfinishedSegmentation> again = {};
  std::string device = {};
};

/// What a Segmenter is given beside its parameters.
struct StageOptions {
  std::uint64_t memory_limit = 0;   ///< Of the device memory held at once, bytes; 0: the device's.
  bool keep_eigenvectors = false;   ///< As Segmenter::keep_eigenvectors().
  bool keep_probabilities = false;  ///< As Segmenter::keep_probabilities().
  bool verify = false;              ///< As Segmenter::verify_results().
  std::function<void()> compiling;  ///< As Segmenter::on_compiling().
};

/// Asks for the kernels that every run of this kind needs, so that they are built together, which
/// takes less time, and has its networks uploaded. `own_maps`: whether the boundary maps are the
/// user's.
void ask_for_kernels(Context& context, DeviceNetworks& networks, const RunParameters& parameters,
                     bool own_maps);

/// All stages in their order, from an image to its regions, on one device. The context and the
/// networks stay for the images to come.
class Stages {
 public:
  /// Opens the device. `device` and `kernel_dir` as Segmenter takes them. Throws ConfigError,
  /// DeviceError.
  Stages(const std::string& device, const std::string& kernel_dir);
  /// Beside others on their device, which another thread may use meanwhile.
  explicit Stages(const Stages& others);

  const DeviceInfo& device() const { return device_; }
  /// Whether the device does not answer.
  bool lost() const { return lost_; }
  StageOptions options;

  /// The segmentations of form.batch.count images of one size, in their order. Nothing if several
  /// images cannot go together. Throws InputError (a boundary map of another size), DeviceError,
  /// NumericalError, CancelledError; after any of them there may be another run, but none on a
  /// device that does not answer.
  std::optional<std::vector<UnfinishedSegmentation>> run(std::span<const WorkingImage> images,
                                                         const RunForm& form, const Watch& watch);

  /// Keeps at most so many bytes of main memory as buffers of later runs. Returns the bytes of the
  /// device's memory that are kept.
  std::uint64_t keep_main_memory(std::uint64_t bytes);

  /// Uploads networks and builds kernels for runs of this form without the user's boundary maps,
  /// which the first of them would do else. Throws what run() throws for them.
  void prepare(const RunForm& form);

  /// Has networks uploaded anew when they are next needed.
  void forget_networks() { networks_.clear(); }

  /// Does work on the device, with the networks that are kept there. `doing`: for errors of OpenCL.
  /// Throws what the work throws; as after run(), there may be more work after an error.
  void work(const char* doing, const std::function<void(Context&, DeviceNetworks&)>& what);

 private:
  Context& opened();

  std::string kernel_dir_;
  DeviceInfo device_;
  std::optional<Context> context_;
  bool lost_ = false;
  std::optional<ProgramBuilds> before_prepared_;  ///< Built before prepare(); taken by run().
  DeviceNetworks networks_;                       // After the context, which must outlive it.
};

}  // namespace diacut
