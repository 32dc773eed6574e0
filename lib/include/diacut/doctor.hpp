#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/progress.hpp"

/// @file
/// Whether a device computes what it should: known answers for every kernel, and its speed.
namespace diacut {

/// A known answer that a device was held to.
struct CheckResult {
  std::string name;  ///< What was computed, as "product with a block".
  /// The kernels that were launched for it, as "matrix/block_product_runs.cl:block_product".
  std::vector<std::string> kernels;
  bool passed = false;      ///< Whether the answer is right.
  double error = 0;         ///< The largest error of a number, as a share of what is allowed.
  std::string finding;      ///< What is wrong; empty: nothing.
  double milliseconds = 0;  ///< What the check took, compiling kernels included.
};

/// How fast a device is, against itself and against a profile that was measured before. A kernel
/// that moves as many bytes a second as a copy does cannot be faster.
struct DeviceSpeed {
  double copy_gigabytes = 0;     ///< A copy in the device's memory, GB read and written a second.
  double product_gigabytes = 0;  ///< The product of a matrix with a vector, GB moved a second.
  double product_gflops = 0;     ///< The same product, 10^9 operations a second.
  std::string product;           ///< The kernel of the product that runs choose on the device.
  std::string profile;           ///< Where the device's profile is; empty: none.
  /// What the profile says of the copy, GB a second, and of the product, 10^9 operations a second;
  /// 0: nothing.
  double profile_copy_gigabytes = 0;
  double profile_product_gflops = 0;  ///< See `profile_copy_gigabytes`.
};

/// What was found out about a device.
struct DeviceExamination {
  DeviceInfo device;                ///< What it says of itself.
  std::vector<CheckResult> checks;  ///< In the order of the stages.
  /// Kernels of this library that no check launched on the device, named as in CheckResult: those
  /// for other kinds of devices.
  std::vector<std::string> not_run;
  std::optional<DeviceSpeed> speed;  ///< Empty where it could not be measured.
  std::string failure;               ///< Why the examination ended early; empty: it did not.
  double milliseconds = 0;           ///< What all of it took.

  /// Whether the device may be trusted. Returns true if it was examined to the end and every answer
  /// is right.
  bool sound() const;

  /// Which kernels may be what is wrong. Returns the kernels of the checks that failed which no
  /// other check has found right; if there are none, all kernels of the first check that failed.
  /// Empty if no check failed.
  std::vector<std::string> suspects() const;

  /// How many different kernels the checks launched.
  std::size_t kernels_checked() const;
};

/// Holds a device to known answers, which plain loops in double on the host compute: for each
/// kernel that a run can choose there, for the networks and the eigensolvers as a whole. Then
/// measures its speed. A wrong answer, and an error of the device, is a finding and no exception.
/// `device`: as choose_device() takes it. `kernel_dir`: a folder to read the OpenCL
/// kernels from; empty: those built in. `watch`: how the caller watches and stops the work. Each
/// check is a stage. Throws ConfigError for a device or a folder that makes no sense. Throws
/// DeviceError when there is no device or it cannot be opened. Throws CancelledError when the
/// caller stops the work.
DeviceExamination examine_device(const std::string& device, const std::string& kernel_dir = {},
                                 const Watch& watch = {});

/// Holds a device to some known answers, one or two for each stage: a part of examine_device().
/// `device`: as choose_device() takes it. `kernel_dir`: a folder to read the OpenCL
/// kernels from; empty: those built in. Throws DeviceError naming the kernel and the device where
/// an answer is wrong, and otherwise as examine_device() does.
void check_device(const std::string& device, const std::string& kernel_dir = {});

/// A library that this one was linked with.
struct LibraryVersion {
  std::string name;     ///< As "OpenCV".
  std::string version;  ///< As "4.6.0".
};

/// The versions of the libraries that read images.
std::vector<LibraryVersion> library_versions();

}  // namespace diacut
