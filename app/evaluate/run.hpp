#pragma once

#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"
#include "options.hpp"

namespace diacut::app {

/// Finds results and ground truth, scores them, several at once, and writes the reports. An image
/// that fails is told of, and the others are scored. Returns the program's exit code; throws the
/// errors that end the run.
ExitCode run_evaluation(const Options& options, Console& console, const CancelToken& cancel);

}  // namespace diacut::app
