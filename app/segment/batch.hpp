#pragma once

#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "plan.hpp"

namespace diacut::app {

/// Segments every image of the plan, one after another, holding one at a time. A failed image does
/// not stop the others; a device that cannot be opened does, and so does `cancel`. Tells of
/// everything on the console and returns what the program ends with.
ExitCode run_plan(const Options& options, const Plan& plan, Console& console,
                  const CancelToken& cancel);

}  // namespace diacut::app
