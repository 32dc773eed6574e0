#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diacut/doctor.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// How a device is examined.
struct ExaminationOrder {
  std::string device;      ///< As choose_device() takes it.
  std::string kernel_dir;  ///< Empty: the built-in kernels.
  /// For tests: the device is given the kernels of another kind of device.
  std::optional<DeviceKind> as_kind = {};
};

/// As examine_device().
DeviceExamination examine(const ExaminationOrder& order, const Watch& watch);

/// All kernels that are built into the library, as CheckResult names them.
std::vector<std::string> kernels_of_library();

}  // namespace diacut
