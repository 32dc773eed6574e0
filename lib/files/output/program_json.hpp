#pragma once

#include <string>
#include <vector>

#include "diacut/device.hpp"

namespace diacut {

/// A device as a JSON object: what report_json() says of it.
std::string device_json(const DeviceInfo& device);
/// Devices as a JSON array, each also with whether it is the chosen one. `chosen`: that, or null.
std::string devices_json(const std::vector<DeviceInfo>& devices, const DeviceInfo* chosen);

}  // namespace diacut
