#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diacut/device.hpp"
#include "opencl/cl.hpp"

namespace diacut {

/// A device with its OpenCL handle: what list_devices() and choose_device() describe.
struct OpenedDevice {
  DeviceInfo info;
  cl::Device device;
};

std::vector<OpenedDevice> open_devices();
OpenedDevice open_device(std::string_view spec);

/// Memory of a device that is going to be allocated, bytes. In both functions `limit` is of the
/// memory held at once, 0: the device's global memory.
struct DeviceMemory {
  std::uint64_t total = 0;  ///< Held at once.
  std::uint64_t piece = 0;  ///< The largest allocation.

  bool fits(const DeviceInfo& device, std::uint64_t limit) const;
  /// Throws DeviceError when it does not fit. The message gives both figures and `advice`.
  void check(const DeviceInfo& device, std::uint64_t limit, const std::string& advice) const;
};

/// Keeps the process's handlers of signals over calls of OpenCL, in which drivers install their
/// own. Not that of SIGFPE, by which PoCL lets kernels divide by zero.
class KeptSignals {
 public:
  KeptSignals();
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;
  ~KeptSignals();
};

}  // namespace diacut
