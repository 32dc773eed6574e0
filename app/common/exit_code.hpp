#pragma once

#include <string>

namespace diacut::app {

/// What the program ends with.
enum class ExitCode : int {
  kDone = 0,
  kInternal = 1,
  kUsage = 2,  ///< The command line or a configuration.
  kInputOutput = 3,
  kDevice = 4,
  kNotConverged = 5,  ///< Labels were written, but the eigenvectors miss the tolerance.
  kInterrupted = 130,
};

/// The worse of two, for a batch: done < not converged < usage < input or output < device <
/// internal < interrupted.
ExitCode worse(ExitCode a, ExitCode b);

struct Failure {
  ExitCode code = ExitCode::kInternal;
  std::string message;
};

/// The exception being handled, as the program tells it. To be called within a catch block.
Failure current_failure();

}  // namespace diacut::app
