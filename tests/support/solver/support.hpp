#pragma once

#include <string>

namespace diacut::testing {

/// The device that tests run on: DIACUT_TEST_DEVICE (as --device takes it), else "cpu".
std::string test_device();

}  // namespace diacut::testing
