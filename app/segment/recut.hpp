#pragma once

#include "command_description.hpp"
#include "console.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// Whether the command line is that of "segment recut" or of "segment annotate".
bool is_recut(int argc, const char* const* argv);

/// Runs "segment recut TREE", another cut of a hierarchy that a run has saved, or "segment annotate
/// LABELS", whose regions a label image has. Opens no device.
/// Throws ConfigError, InputError.
ExitCode run_recut(int argc, const char* const* argv, Console& console);

/// The options of the subcommands, for their manual pages and completions.
CommandDescription describe_recut();
CommandDescription describe_annotate();

}  // namespace diacut::app
