#pragma once

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
