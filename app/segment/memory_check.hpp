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
  /// `available`: what the process could hold at once, bytes; 0: not known.
  explicit MemoryLedger(std::function<std::uint64_t()> available);

  /// Enters an image that takes up to so many bytes. Throws NoRoomBesideOthers where there are
  /// others and the sum of all images is not available.
  MemoryShare enter(std::uint64_t bytes);

  /// The largest sum of several images so far, bytes; 0 if there was one at a time.
  std::uint64_t most_together() const;

 private:
  struct Entered {
    std::mutex mutex;
    std::uint64_t bytes = 0;
    int images = 0;
    std::uint64_t most_together = 0;
  };
  std::function<std::uint64_t()> available_;
  std::shared_ptr<Entered> entered_;  ///< Shares may outlive the ledger.
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
  std::mutex mutex_;  ///< Of the device.
  bool chosen_ = false;
  std::optional<DeviceInfo> device_;  ///< Nothing: there is none.
  MemoryLedger ledger_;
};

}  // namespace diacut::app
