#pragma once

#include <string_view>

#include "diacut/progress.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// Ends the process at once with a text on standard error, and leaves no temporary files. It takes
/// no memory, and a handler of a signal may call it.
[[noreturn]] void end_with(std::string_view text, ExitCode code);

/// Sets what the process does when it gets a signal:
///  - SIGINT, SIGTERM and SIGHUP cancel the token that is returned; the second signal ends the
///    process at once with exit code 130 and leaves no temporary files. A signal that the parent
///    process ignores (nohup) stays ignored.
///  - SIGALRM, which limit_time() has sent, cancels the token too; work that does not end within
///    four seconds, as where a driver hangs, is ended with exit code 130.
///  - SIGPIPE and SIGXFSZ are ignored, so that writing to a closed pipe or past the limit of a
///    file's size fails as writing to a full disk does.
///  - Crashes: see handle_crashes().
const CancelToken& handle_signals();

/// Ends the process as SIGTERM does once this time has passed, in seconds from now. To be called
/// once, after handle_signals().
void limit_time(double seconds);
/// Whether the time of limit_time() is up.
bool time_is_up();

/// Lets a crash of a library or a driver end the process with a message and exit code 1, unless
/// somebody else, as a sanitizer, looks after such signals. To be called again when a device was
/// opened: the compiler in a driver takes these signals over.
void handle_crashes();

/// Opens the descriptors 0, 1 and 2 if the parent process closed them, so that no other file gets
/// their numbers. Reading from 0 and writing to 1 and 2 stay errors then.
void guard_standard_streams();

}  // namespace diacut::app
