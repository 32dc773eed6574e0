#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace diacut {

/// Adds to counts[label] the pixels of each label. Several threads may add at once.
inline void add_counts(std::span<const std::int32_t> labels, std::vector<std::int64_t>& counts) {
  for (std::size_t begin = 0; begin < labels.size();) {
    const std::int32_t label = labels[begin];
    std::size_t end = begin + 1;
    while (end < labels.size() && labels[end] == label) ++end;
    std::atomic_ref<std::int64_t>(counts[static_cast<std::size_t>(label)])
        .fetch_add(static_cast<std::int64_t>(end - begin), std::memory_order_relaxed);
    begin = end;
  }
}

}  // namespace diacut
