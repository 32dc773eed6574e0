#pragma once

#include "sandbox/sandbox.hpp"

namespace diacut {

/// How a child ended.
struct SandboxEnd {
  /// kSignal: or in another way that is not foreseen. Children end with these codes.
  enum How : std::int32_t { kDone, kSignal, kNoMemory, kNoSandbox, kTimeOut };
  How how = kDone;
  std::int32_t number = 0;  ///< Of the signal.
};

/// The server of a sandbox: starts a child for each request that comes from the socket `control`,
/// one after the other, and reports how it ended. A request is the limits, then the child's own
/// request, with the descriptors of its socket, its input and its output. Any other message while
/// a child runs ends the child. Ends the process when the other end of the socket is closed.
[[noreturn]] void serve_sandboxes(Sandbox::Work work, int control);

/// Lets this process and its threads do no more, from now on, than Sandbox allows. Returns whether
/// the kernel accepted that.
bool enter_sandbox();

}  // namespace diacut
