#pragma once

#include <functional>
#include <string>

#include "common_options.hpp"
#include "console.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// What main() of every program does around its work: opens what standard streams are missing, and
/// turns what `work` throws into a message and an exit code. Returns what main() returns.
int run_program(const std::string& name, const std::function<ExitCode(Console&)>& work);

/// Prints the answer, if there is one. Returns whether the program goes on: then the console shows
/// what it was asked to.
bool begin(const CommonOptions& options, Console& console);

/// "segment (diacut) 0.1.0", a line.
std::string version_text(const std::string& name);

}  // namespace diacut::app
