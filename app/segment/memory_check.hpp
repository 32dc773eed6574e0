#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "diacut/device.hpp"
#include "diacut/image_file.hpp"
#include "diacut/memory_plan.hpp"
#include "options.hpp"

namespace diacut::app {

/// The main memory that is meant for an image, as long as this lives.
using MemoryShare = std::shared_ptr<const void>;

/// Thrown for an image that fits main memory, but not beside the others that are there.
struct NoRoomBesideOthers {};

/// The main memory that is meant for the images of a batch. Its functions may be called in several
/// threads at once.
class MemoryLedger {
 public:
  /// What an image is to take, bytes.
  struct Need {
    std::uint64_t reading = 0;    ///< While it is read.
    std::uint64_t working = 0;    ///< While the device works on it.
    std::uint64_t finishing = 0;  ///< While it is finished and written.
    std::uint64_t device = 0;     ///< Of a device whose memory this is, while it works.
  };

  /// `available`: what the process could hold at once, bytes; 0: not known.
  explicit MemoryLedger(std::function<std::uint64_t()> available);

  /// Enters an image. Throws NoRoomBesideOthers where there are others and the sum of all images is
  /// not available. In this sum the first to be entered is finished while the device works on the
  /// second and the others are read; the device works on one at a time.
  MemoryShare enter(const Need& need);

  /// The largest sum of several images so far, bytes; 0 if there was one at a time.
  std::uint64_t most_together() const;

 private:
  class Entries;
  std::function<std::uint64_t()> available_;
  std::shared_ptr<Entries> entries_;
};

/// Refuses images that cannot be segmented for want of memory, by their size alone.
class MemoryCheck {
 public:
  /// `options` must outlive the check. `available`: as MemoryLedger takes it.
  explicit MemoryCheck(const Options& options,
                       std::function<std::uint64_t()> available = &host_memory_available)
      : options_(options), ledger_(std::move(available)) {}

  /// What is meant for an image of this size with its features; nothing without a device: that
  /// there is none is told when the device is opened. Throws DeviceError or InputError where the
  /// image takes more memory than the device or the machine has, and what MemoryLedger::enter()
  /// throws. May be called in several threads at once.
  MemoryShare take(const ImageSize& size, const FeatureSize& features = {});

  /// The device that takes the place of the one that was chosen.
  void use(const DeviceInfo& device);

  /// As MemoryLedger has it.
  std::uint64_t most_together() const { return ledger_.most_together(); }

 private:
  const Options& options_;
  std::once_flag chosen_;
  std::mutex mutex_;
  std::optional<DeviceInfo> device_;  ///< Guarded by the mutex. Nothing: there is none.
  MemoryLedger ledger_;
};

}  // namespace diacut::app
