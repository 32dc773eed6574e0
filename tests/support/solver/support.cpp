#include "support.hpp"

#include <cstdlib>

namespace diacut::testing {

std::string test_device() {
  const char* device = std::getenv("DIACUT_TEST_DEVICE");
  return device != nullptr ? device : "cpu";
}

}  // namespace diacut::testing
