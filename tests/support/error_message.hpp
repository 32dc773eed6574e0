#pragma once

#include <string>

namespace diacut::testing {

/// The message of the error of type E that `work` throws; "" where it throws none.
template <class E, class Work>
[[nodiscard]] std::string error_message(const Work& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace diacut::testing
