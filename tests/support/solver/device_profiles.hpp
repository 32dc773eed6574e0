#pragma once

#include <string>

#include "diacut/device.hpp"
#include "matrix/device_profile.hpp"
#include "spmv/format_profile.hpp"

namespace diacut {

/// The part of a whole profile's text. Throws as read_profile() does.
MatvecProfile parse_matvec_profile(const std::string& text, const std::string& name);

namespace testing {

/// The device that the profiles below are of.
ProfiledDevice plausible_device(DeviceKind kind);

/// A profile made up from how many bytes each implementation moves for a stored element, at 100
/// GB/s and with 5 us for a launch: what a device without surprises would measure.
FormatProfile plausible_format_profile(DeviceKind kind);

/// The kernel naive at 10 GFLOP/s for 100,000 rows, unrolled at 20 GFLOP/s for 4,000,000 rows.
MatvecProfile plausible_matvec_profile();

/// A whole profile of these parts, as `diacut-bench tune` writes it.
std::string plausible_profile_text(DeviceKind kind);

/// `text` with the first `from` in it replaced; fails the test if there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace testing
}  // namespace diacut
