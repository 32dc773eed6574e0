#pragma once

#include "diacut/doctor.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Measures the copy and the product on a device. Throws DeviceError.
DeviceSpeed measure_speed(Context& context);

}  // namespace diacut
