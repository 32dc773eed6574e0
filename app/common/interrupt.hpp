#pragma once

#include "diacut/progress.hpp"

namespace diacut::app {

/// Sees to the signals the program may get:
///  - SIGINT, SIGTERM and SIGHUP set the token that is returned; the second one ends the process
///    at once with exit code 130, without temporary files left. One that the parent had ignored
///    (nohup) stays ignored.
///  - SIGPIPE and SIGXFSZ are ignored, so that a closed pipe and a file grown past its limit are
///    failed writes like a full disk.
const CancelToken& handle_signals();

/// Opens those of the descriptors 0, 1 and 2 that the parent closed, so that no file of ours takes
/// their place; using them stays an error.
void guard_standard_streams();

}  // namespace diacut::app
