#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "diacut/device.hpp"
#include "diacut/memory.hpp"
#include "options.hpp"

namespace diacut::app {

/// The main memory that is meant for an image, as long as this lives.
using MemoryShare = std::shared_ptr<const void>;

/// Thrown for an image that fits main memory, but not beside the others that are there.
struct NoRoomBesideOthers {};

/// Refuses images that cannot be segmented for want of memory, by their size alone. Its functions
/// may be called in several threads at once.
class MemoryCheck {
 public:
  /// `options` must outlive the check. `available`: the main memory that the process could hold at
  /// once, bytes; 0: not known.
  explicit MemoryCheck(const Options& options,
                       std::function<std::uint64_t()> available = &host_memory_available)
      : options_(options), available_(std::move(available)) {}

  /// What is meant for an image of this size with its features. Before use() it is taken for an
  /// image that a CPU computes; nothing where it does not fit one and there is no device, which is
  /// reported when the device is opened. Throws DeviceError or InputError where the image takes
  /// more memory than the device or the machine has, and what enter() throws.
  MemoryShare take(const ImageSize& size, const FeatureSize& features = {});

  /// Enters an image that takes up to so many bytes of main memory. One image at a time has the
  /// device; the others wait. Throws NoRoomBesideOthers where there are others and the sum of all
  /// images is not available. Shares must not outlive the check.
  MemoryShare enter(const MemoryNeed& need);

  /// The device that computes the images from now on.
  void use(const DeviceInfo& device);

  /// The largest sum of several images so far, bytes; 0 if there was one at a time.
  std::uint64_t most_together() const;

 private:
  std::optional<DeviceInfo> known_device() const;

  const Options& options_;
  std::function<std::uint64_t()> available_;
  mutable std::mutex mutex_;          ///< Of what follows.
  std::optional<DeviceInfo> device_;  ///< Nothing: it is not open yet.
  std::uint64_t waiting_ = 0;         ///< Bytes of the images that are there, without the device.
  std::uint64_t most_computing_ = 0;  ///< The most that one takes beside, with the device.
  int images_ = 0;
  std::uint64_t most_together_ = 0;
};

}  // namespace diacut::app
