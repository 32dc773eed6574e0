#pragma once

#include "command_description.hpp"
#include "console.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// Whether the command line is that of "segment recut".
bool is_recut(int argc, const char* const* argv);

/// Runs "segment recut TREE": another cut of a hierarchy that a run has saved. Opens no device.
/// Throws ConfigError, InputError.
ExitCode run_recut(int argc, const char* const* argv, Console& console);

/// The options of segment recut, for its manual page and completions.
CommandDescription describe_recut();

}  // namespace diacut::app
