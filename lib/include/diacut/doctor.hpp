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
  std::string name;                  ///< What was computed, as "product with a block".
  std::vector<std::string> kernels;  ///< Launched for it, as "matrix/matvec_naive.cl:matvec".
  bool passed = false;               ///< Whether the answer is right.
  double error = 0;         ///< The largest error of a number, as a share of what is allowed.
  std::string finding;      ///< What is wrong; empty: nothing.
  double milliseconds = 0;  ///< What the check took, compiling kernels included.
};

/// What was found out about a device.
struct DeviceExamination {
  DeviceInfo device;                 ///< What it says of itself.
  std::vector<CheckResult> checks;   ///< In the order of the stages.
  std::vector<std::string> not_run;  ///< Kernels that no check launched: those for other devices.
  std::string failure;               ///< Why the examination ended early; empty: it did not.
  double milliseconds = 0;           ///< What all of it took.

  /// Whether the device was examined to the end and every answer is right.
  bool sound() const;
  /// Which kernels may be what is wrong: those of the checks that failed which no other check has
  /// found right; if there are none, all kernels of the first check that failed.
  std::vector<std::string> suspects() const;
  std::size_t kernels_checked() const;  ///< How many different kernels the checks launched.
};

/// Holds a device to known answers, which plain loops in double on the host compute: for each
/// kernel that a run can choose there, for the networks and the eigensolvers as a whole. A wrong
/// answer, and an error of the device, is a finding and no exception. `device`, `kernel_dir`: as
/// Segmenter takes them. `watch`: each check is a stage. Throws ConfigError for a device or a
/// folder that makes no sense, DeviceError when there is no device or it cannot be opened,
/// CancelledError when the caller stops the work.
DeviceExamination examine_device(const std::string& device, const std::string& kernel_dir = {},
                                 const Watch& watch = {});

}  // namespace diacut
