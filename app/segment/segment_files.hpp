#pragma once

#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "plan.hpp"

namespace diacut::app {

/// Segments every image of the plan and writes its results. An image that fails does not stop the
/// others; a device that cannot be opened does, and so does `cancel`. Tells of everything on the
/// console. Returns the program's exit code.
ExitCode segment_files(const Options& options, const Plan& plan, Console& console,
                       const CancelToken& cancel);

/// Segments one picture in tiles, or makes the plan alone: segment --tile-size. A run that was
/// stopped goes on where it was. Throws ConfigError, InputError, DeviceError, CancelledError.
ExitCode run_in_tiles(const Options& options, Console& console, const CancelToken& cancel);

}  // namespace diacut::app
