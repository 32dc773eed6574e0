#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/progress.hpp"

/// @file
/// Checks that a device computes correctly: known answers for every kernel.
namespace diacut {

/// The result of a known-answer test.
struct CheckResult {
  std::string name;                  ///< What was computed, such as "product with a block".
  std::vector<std::string> kernels;  ///< Kernels launched, such as "matrix/matvec_naive.cl:matvec".
  bool passed = false;               ///< Whether the answer is right.
  double error = 0;                  ///< The largest error of a number, divided by its tolerance.
  std::string finding;               ///< What is wrong; empty if nothing is.
  double milliseconds = 0;           ///< Time of the check, including compilation of kernels.
};

/// The result of a device's examination.
struct DeviceExamination {
  DeviceInfo device;                 ///< What the device reports about itself.
  std::vector<CheckResult> checks;   ///< In the order of the stages.
  std::vector<std::string> not_run;  ///< Kernels for other devices, which no check launched.
  std::string failure;               ///< Why the examination ended early; empty if it did not.
  double milliseconds = 0;           ///< Time of the whole examination.

  /// Whether the device was examined to the end and every answer is right.
  bool sound() const;
  /// The kernels that may be wrong: those of failed checks that no passed check launched; if there
  /// are none, all kernels of the first failed check.
  std::vector<std::string> suspects() const;
  std::size_t kernels_checked() const;  ///< Number of different kernels that the checks launched.
};

/// Compares a device with known answers, which plain loops in double on the host compute: for each
/// kernel that a run can choose there, for the networks and the eigensolvers as a whole. A wrong
/// answer, and an error of the device, is a finding and no exception. `device`, `kernel_dir`: as
/// Segmenter takes them. `watch`: each check is a stage. Throws ConfigError for a device or a
/// folder that makes no sense, DeviceError when there is no device or it cannot be opened,
/// CancelledError when the caller stops the work.
DeviceExamination examine_device(const std::string& device, const std::string& kernel_dir = {},
                                 const Watch& watch = {});

}  // namespace diacut
