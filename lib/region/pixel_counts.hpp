#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace diacut {

/// Calls visit(label, begin, end) for each run of neighbours with the same label.
template <class Visit>
void each_run(std::span<const std::int32_t> labels, const Visit& visit) {
  for (std::size_t begin = 0; begin < labels.size();) {
    const std::int32_t label = labels[begin];
    std::size_t end = begin + 1;
    while (end < labels.size() && labels[end] == label) ++end;
    visit(label, begin, end);
    begin = end;
  }
}

/// Adds to counts[label] the pixels of each label. Several threads may add at once.
inline void add_counts(std::span<const std::int32_t> labels, std::vector<std::int64_t>& counts) {
  each_run(labels, [&](std::int32_t label, std::size_t begin, std::size_t end) {
    std::atomic_ref<std::int64_t>(counts[static_cast<std::size_t>(label)])
        .fetch_add(static_cast<std::int64_t>(end - begin), std::memory_order_relaxed);
  });
}

}  // namespace diacut
