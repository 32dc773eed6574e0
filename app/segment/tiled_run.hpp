#pragma once

#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"
#include "options.hpp"

namespace diacut::app {

/// Segments one picture in tiles, or makes the plan alone: segment --tile-size. A run that was
/// stopped goes on where it was. Throws ConfigError, InputError, DeviceError, CancelledError.
ExitCode run_in_tiles(const Options& options, Console& console, const CancelToken& cancel);

}  // namespace diacut::app
