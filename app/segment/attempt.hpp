#pragma once

#include <functional>
#include <optional>
#include <string>

#include "exit_code.hpp"

namespace diacut::app {

/// Does `work`. Returns what it throws, as a failure whose message names `input`; nothing if it
/// throws nothing. `input`: a path, or "-".
std::optional<Failure> attempt(const std::string& input, const std::function<void()>& work);

}  // namespace diacut::app
