#pragma once

#include <functional>
#include <string>

#include "diacut/progress.hpp"

namespace diacut::app {

/// Takes a line, without a line feed at its end.
using TakeLine = std::function<void(const std::string&)>;

/// How a child process ended.
struct ChildEnd {
  int exit_code = -1;  ///< -1 if a signal ended it.
  int signal = 0;
};

/// Runs `work` in a child process, so that a driver that crashes or ends the process takes nothing
/// along. What `work` sends is given to `take` in this process, line by line. If `cancel` is
/// set, the child is asked to end. What `work` throws ends the child with current_failure()'s exit
/// code, after a last line with the message, in the form that failure_of() reads. Precondition:
/// this process has one thread and has not used OpenCL. Throws InputError where no process can be
/// made.
ChildEnd run_in_child(const std::function<void(const TakeLine& send)>& work, const TakeLine& take,
                      const CancelToken& cancel);

}  // namespace diacut::app
