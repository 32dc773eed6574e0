#pragma once

#include "diacut/device.hpp"

namespace diacut::app {

/// Where memory goes that the program has freed.
enum class FreedMemory {
  kReturned,  ///< To the system, without holes between blocks: the process stays small.
  kKept,      ///< To later images, which then touch no new pages, up to 256 MB.
};

/// What is better on a device. malloc() gives the buffers of an OpenCL device that is a CPU, so
/// that kept memory would add to the largest size of the process; elsewhere, the process is small,
/// and new pages are a tenth of an image's time.
FreedMemory freed_memory_for(DeviceKind kind);

/// Tells the C library, where it can be told (glibc), from now on.
void set_freed_memory(FreedMemory where);

}  // namespace diacut::app
