#pragma once

#include "command_description.hpp"
#include "console.hpp"
#include "diacut/progress.hpp"
#include "exit_code.hpp"

namespace diacut::app {

/// Whether the command line is one of segment doctor.
bool is_doctor(int argc, const char* const* argv);

/// segment doctor: holds each device to known answers, and tells of the computer what matters.
/// Returns kDevice where a device gives a wrong answer. Throws what main() turns into a message.
ExitCode run_doctor(int argc, const char* const* argv, Console& console, const CancelToken& cancel);

/// The options of segment doctor, for completions.
CommandDescription describe_doctor();

}  // namespace diacut::app
