#pragma once

#include <functional>
#include <string>

#include "console.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// What main() of every program does around its work: opens what standard streams are missing, and
/// turns what `work` throws into a message and an exit code. Returns what main() returns.
int run_program(const std::string& name, const std::function<ExitCode(Console&)>& work);

/// "segment (diacut) 0.1.0" on standard output.
void print_version(const std::string& name);

}  // namespace diacut::app
