#include "freed_memory.hpp"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace diacut::app {

FreedMemory freed_memory_for(DeviceKind kind) {
  return kind == DeviceKind::kCpu ? FreedMemory::kReturned : FreedMemory::kKept;
}

void set_freed_memory([[maybe_unused]] FreedMemory where) {
#ifdef M_MMAP_THRESHOLD
  constexpr int kMiB = 1 << 20;
  const bool kept = where == FreedMemory::kKept;
  // Larger blocks are mapped each by itself: 32 MiB is the most that glibc allows here.
  mallopt(M_MMAP_THRESHOLD, kept ? 32 * kMiB : kMiB);
  mallopt(M_TRIM_THRESHOLD, kept ? 256 * kMiB : kMiB);
#endif
}

}  // namespace diacut::app
