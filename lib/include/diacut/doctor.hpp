#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/progress.hpp"

/// @file
/// Whether a device computes what it should: known answers for every kernel.
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

/// What was found out about a device.
struct DeviceExamination {
  DeviceInfo device;                ///< What it says of itself.
  std::vector<CheckResult> checks;  ///< In the order of the stages.
  /// Kernels of this library that no check launched on the device, named as in CheckResult: those
  /// for other kinds of devices.
  std::vector<std::string> not_run;
  std::string failure;      ///< Why the examination ended early; empty: it did not.
  double milliseconds = 0;  ///< What all of it took.

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
/// kernel that a run can choose there, for the networks and the eigensolvers as a whole. A
/// wrong answer, and an error of the device, is a finding and no exception.
/// `device`: as choose_device() takes it. `kernel_dir`: a folder to read the OpenCL
/// kernels from; empty: those built in. `watch`: how the caller watches and stops the work. Each
/// check is a stage. Throws ConfigError for a device or a folder that makes no sense. Throws
/// DeviceError when there is no device or it cannot be opened. Throws CancelledError when the
/// caller stops the work.
DeviceExamination examine_device(const std::string& device, const std::string& kernel_dir = {},
                                 const Watch& watch = {});

}  // namespace diacut
