#pragma once

#include <mutex>
#include <optional>

#include "diacut/device.hpp"
#include "diacut/image_file.hpp"
#include "options.hpp"

namespace diacut::app {

/// Refuses images that cannot be segmented for want of memory, by their size alone.
class MemoryCheck {
 public:
  /// `options` must outlive the check.
  explicit MemoryCheck(const Options& options) : options_(options) {}

  /// Throws DeviceError or InputError where an image of this size takes more memory than the device
  /// or the machine has. Without a device it accepts every size: that there is none is told when
  /// the device is opened. May be called in several threads at once.
  void check(const ImageSize& size);

 private:
  const Options& options_;
  std::once_flag chosen_;
  std::optional<DeviceInfo> device_;  ///< Nothing: there is none.
};

}  // namespace diacut::app
