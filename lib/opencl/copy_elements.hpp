#pragma once

#include <cstddef>

#include "opencl/context.hpp"

namespace diacut {

/// to[at .. at + count) = from[first .. first + count). Enqueues. The buffers differ.
template <class T>
void copy_elements(const Buffer<T>& from, std::size_t first, Buffer<T>& to, std::size_t at,
                   std::size_t count) {
  if (count == 0) return;
  with_device_errors("copying on the device", [&] {
    from.context().queue().enqueueCopyBuffer(from.cl(), to.cl(), first * sizeof(T), at * sizeof(T),
                                             count * sizeof(T));
  });
}

}  // namespace diacut
