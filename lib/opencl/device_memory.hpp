#pragma once

#include <cstdint>
#include <string>

#include "diacut/device.hpp"

namespace diacut {

/// Memory of a device that is going to be allocated, bytes. In both functions `limit` is of the
/// memory held at once, 0: the device's global memory.
struct DeviceMemory {
  std::uint64_t total = 0;  ///< Held at once.
  std::uint64_t piece = 0;  ///< The largest allocation.

  bool fits(const DeviceInfo& device, std::uint64_t limit) const;
  /// Throws DeviceError when it does not fit. The message gives both figures and `advice`.
  void check(const DeviceInfo& device, std::uint64_t limit, const std::string& advice) const;
};

}  // namespace diacut
