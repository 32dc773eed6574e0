#pragma once

#include <vector>

#include "command_description.hpp"
#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"
#include "options.hpp"

namespace diacut::app {

/// Segments one picture in tiles, or makes the plan alone: segment --tile-size. A run that was
/// stopped goes on where it was. Throws ConfigError, InputError, DeviceError, CancelledError.
ExitCode run_in_tiles(const Options& options, Console& console, const CancelToken& cancel);

/// Whether the command line is that of "segment tile", "segment join" or "segment paint".
bool is_tile_command(int argc, const char* const* argv);

/// Runs "segment tile PLAN", "segment join PLAN" or "segment paint PLAN": a part of a run in tiles.
/// Throws as run_in_tiles() does.
ExitCode run_tile_command(int argc, const char* const* argv, Console& console,
                          const CancelToken& cancel);

/// The options of these commands, for manual pages and completions.
std::vector<CommandDescription> describe_tile_commands();

}  // namespace diacut::app
