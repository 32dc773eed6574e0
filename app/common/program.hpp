#pragma once

#include <functional>
#include <string>

#include "console.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// Runs a program: calls guard_standard_streams() and `work`, and turns what `work` throws into a
/// message and an exit code. Returns the exit code, for main().
int run_program(const std::string& name, const std::function<ExitCode(Console&)>& work);

/// Prints options.answer if there is one, else sets the console's verbosity. Returns whether the
/// program goes on, which it does if there is no answer.
bool begin(const CommonOptions& options, Console& console);

/// "segment (diacut) 0.1.0", a line.
std::string version_text(const std::string& name);

}  // namespace diacut::app
