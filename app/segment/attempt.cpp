#include "attempt.hpp"

#include <fmt/format.h>

#include "text.hpp"

namespace diacut::app {

std::optional<Failure> attempt(const std::string& input, const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (...) {
    Failure failure = current_failure();
    if (failure.message.find(input) == std::string::npos) {
      failure.message = fmt::format("{}: {}", quoted_input_name(input), failure.message);
    }
    return failure;
  }
}

}  // namespace diacut::app
