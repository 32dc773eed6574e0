#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace diacut {

enum class DeviceKind { kCpu, kGpu, kAccelerator, kOther };

/// What an OpenCL device says of itself. Sizes in bytes.
struct DeviceInfo {
  int platform_index = 0;
  int device_index = 0;  ///< Within its platform.
  std::string platform;
  std::string name;
  std::string vendor;
  std::string version;  ///< CL_DEVICE_VERSION.
  std::string driver;
  DeviceKind kind = DeviceKind::kOther;
  unsigned compute_units = 0;
  unsigned clock_mhz = 0;
  std::uint64_t global_memory = 0;
  std::uint64_t max_allocation = 0;
  std::uint64_t local_memory = 0;
  bool dedicated_local_memory = false;
  std::size_t max_work_group = 0;
  bool images = false;
  std::size_t image_max_width = 0;
  std::size_t image_max_height = 0;
  bool fp64 = false;

  /// "0:1", as --device takes it.
  std::string index() const;
};

/// Every device of every OpenCL platform, in the loader's order. Throws DeviceError, saying which
/// package to install, when there is no platform; an empty platform contributes nothing.
std::vector<DeviceInfo> list_devices();

/// The device that `spec` names:
///  - ""            the environment variable DIACUT_DEVICE if set, else the first GPU, else the
///                  first accelerator, else the first CPU;
///  - "gpu", "cpu"  the first of that kind;
///  - "P:D"         device D of platform P;
///  - other text    the one device whose name or platform contains it, ignoring case.
/// Throws ConfigError when nothing matches, or when a name matches devices of several names; the
/// message lists the devices.
DeviceInfo choose_device(std::string_view spec);

const char* to_string(DeviceKind kind);

}  // namespace diacut
