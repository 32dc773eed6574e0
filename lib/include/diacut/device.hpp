#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// The OpenCL devices of this machine, and how to name one of them.
namespace diacut {

/// The kind of processor that an OpenCL device reports (CL_DEVICE_TYPE).
enum class DeviceKind {
  kCpu,          ///< A processor of the host, as PoCL offers it.
  kGpu,          ///< A graphics processor.
  kAccelerator,  ///< A dedicated accelerator that is no graphics processor.
  kOther,        ///< Any other device.
};

/// What an OpenCL device reports about itself.
struct DeviceInfo {
  int platform_index = 0;                ///< Index of the device's platform, in the loader's order.
  int device_index = 0;                  ///< Index of the device within its platform.
  std::string platform;                  ///< Name of the platform.
  std::string name;                      ///< Name of the device.
  std::string vendor;                    ///< Vendor of the device.
  std::string version;                   ///< OpenCL version (CL_DEVICE_VERSION).
  std::string driver;                    ///< Version of the driver.
  DeviceKind kind = DeviceKind::kOther;  ///< What kind of processor it is.
  unsigned compute_units = 0;            ///< Number of compute units.
  unsigned clock_mhz = 0;                ///< Highest clock frequency, MHz.
  std::uint64_t global_memory = 0;       ///< Global memory, bytes.
  std::uint64_t max_allocation = 0;      ///< Size of the largest single buffer, bytes.
  std::uint64_t local_memory = 0;        ///< Local memory of a work-group, bytes.
  bool dedicated_local_memory = false;   ///< Whether local memory is apart from global memory.
  std::size_t max_work_group = 0;        ///< Work-items of the largest work-group.
  bool images = false;                   ///< Whether kernels can read images.
  std::size_t image_max_width = 0;       ///< Width of the largest 2D image, pixels.
  std::size_t image_max_height = 0;      ///< Height of the largest 2D image, pixels.
  bool fp64 = false;                     ///< Whether kernels can compute in double precision.

  /// The text that choose_device() takes for this device: platform and device index, as "0:1".
  std::string index() const;
};

/// The OpenCL devices of all platforms, in the loader's order. Throws DeviceError when there is
/// no platform; the message says which package to install.
std::vector<DeviceInfo> list_devices();

/// Names an OpenCL driver to use if the system has no device. Call it before you ask for devices.
/// `library`: the file of the driver's library; empty: none. `way_out`: added to the error message
/// if there is still no device.
void offer_driver(const std::string& library, const std::string& way_out);

/// Finds the device that a text names. Throws ConfigError, which lists the devices, when none
/// matches, or devices of several names do; DeviceError as list_devices() does. `spec` is one of
///   - "": the device that the environment variable DIACUT_DEVICE names if it is set, else the
///     first GPU, else the first accelerator, else the first CPU;
///   - "auto": the device that a job was given: the first of the best kind that the driver shows.
///     Where it shows several of that kind, a task of Slurm takes the one at SLURM_LOCALID;
///   - "gpu" or "cpu": the first device of that kind; "gpu:1" or "cpu:1": the second;
///   - "P:D": device D of platform P;
///   - any other text: the one device whose name or platform contains it, ignoring case.
DeviceInfo choose_device(std::string_view spec);

/// "cpu", "gpu", "accelerator" or "other", with static storage.
const char* to_string(DeviceKind kind);

/// The devices to try one after the other when one fails: all of them, in the order in which
/// choose_device() prefers them; or the one that `spec` or DIACUT_DEVICE names, because a named
/// device is not replaced. Throws as choose_device() does.
std::vector<DeviceInfo> devices_to_try(std::string_view spec);

}  // namespace diacut
