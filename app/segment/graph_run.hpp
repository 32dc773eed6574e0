#pragma once

#include "command_description.hpp"
#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// Whether the command line is that of "segment graph".
bool is_graph(int argc, const char* const* argv);

/// Runs "segment graph W.npz": eigenvectors and clusters of a graph. Throws ConfigError,
/// InputError, DeviceError, CancelledError.
ExitCode run_graph(int argc, const char* const* argv, Console& console, const CancelToken& cancel);

/// The options of segment graph, for its manual page and completions.
CommandDescription describe_graph();

}  // namespace diacut::app
