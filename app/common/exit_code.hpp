#pragma once

#include <functional>
#include <optional>
#include <string>

namespace diacut::app {

/// The exit code of a program.
enum class ExitCode : int {
  kDone = 0,
  kInternal = 1,
  kUsage = 2,         ///< A command line or configuration that makes no sense.
  kInputOutput = 3,   ///< An input that cannot be read, or a result that cannot be written.
  kDevice = 4,        ///< No device, or a device that is too small or failed.
  kNotConverged = 5,  ///< Results were written, but the eigenvectors miss the tolerance.
  kInterrupted = 130,
};

/// The worse of two exit codes. From best to worst: kDone, kNotConverged, kUsage, kInputOutput,
/// kDevice, kInternal, kInterrupted.
ExitCode worse(ExitCode a, ExitCode b);

/// An error as a program prints it.
struct Failure {
  ExitCode code = ExitCode::kInternal;
  std::string message;
};

/// The exception that is being handled. To be called within a catch block. `input`: a path or "-",
/// which the message names; empty: it names none.
Failure current_failure(const std::string& input = {});

/// Does `work`. Returns what it throws, as current_failure() has it; nothing if it throws nothing.
std::optional<Failure> attempt(const std::string& input, const std::function<void()>& work);

}  // namespace diacut::app
