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

}  // namespace diacut
