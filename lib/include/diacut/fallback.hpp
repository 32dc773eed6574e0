#pragma once

#include <string_view>
#include <vector>

#include "diacut/device.hpp"

/// @file
/// Which devices may take the place of one that fails.
namespace diacut {

/// Finds the devices that work may go on to when one fails.
/// @param spec As choose_device() takes it.
/// @return If the text, or else the environment variable DIACUT_DEVICE, names a device, that one
///     alone: a device that somebody named is not replaced. Otherwise all devices, in the order in
///     which choose_device() prefers them.
/// @throws ConfigError, DeviceError as choose_device() does.
std::vector<DeviceInfo> devices_to_try(std::string_view spec);

}  // namespace diacut
