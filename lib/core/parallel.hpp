#pragma once

#include <functional>

namespace diacut {

/// Calls work(0) to work(count - 1), each once, on the processor's cores, and returns when all are
/// done, in any order. If several calls throw, the exception of the least index is rethrown.
void parallel_for(int count, const std::function<void(int)>& work);

}  // namespace diacut
