#pragma once

#include "diacut/device.hpp"
#include "spmv/profile.hpp"

namespace diacut::testing {

/// A profile made up from how many bytes each implementation moves for a stored element, at 100
/// GB/s and with 5 us for a launch: what a device without surprises would measure.
DeviceProfile plausible_profile(DeviceKind kind);

}  // namespace diacut::testing
