#pragma once

#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"
#include "options.hpp"

namespace diacut::app {

/// Finds results and ground truth, scores them, several at once, and writes the reports. What is
/// wrong with an image is told and does not keep the others from being tried. Returns what the
/// program ends with; throws what ends the run.
ExitCode run_evaluation(const Options& options, Console& console, const CancelToken& cancel);

}  // namespace diacut::app
