#pragma once

namespace diacut {

/// Lets this process and its threads do no more, from now on, than Sandbox tells. Returns whether
/// the kernel accepted that.
bool enter_sandbox();

}  // namespace diacut
