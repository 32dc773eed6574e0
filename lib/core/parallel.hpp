#pragma once

#include <functional>

namespace diacut {

/// Calls work(0) to work(count - 1), each once, on the processor's cores, and returns when all are
/// done; the order is left open. The first exception by index is thrown on.
void parallel_for(int count, const std::function<void(int)>& work);

}  // namespace diacut
