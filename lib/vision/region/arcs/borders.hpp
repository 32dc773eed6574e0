#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "diacut/labels.hpp"

namespace diacut {

/// The common border of two regions.
struct Border {
  std::int32_t first = 0;   ///< The region with the smaller number.
  std::int32_t second = 0;  ///< The region with the larger number.
  std::int64_t length = 0;  ///< The pairs of 4-neighbours, one pixel in each region.

  void add(const Border& other) { length += other.length; }
};

/// All borders between regions, in the order of (first, second). Pixels of label 0 have none. On
/// all cores; the same for any number of them.
std::vector<Border> find_borders(const Labels& labels);

/// The pixels of each region 1..labels.count; element 0 is 0. On all cores.
std::vector<std::int64_t> region_sizes(const Labels& labels);

/// number_of[label] for each label. On all cores.
std::vector<std::int32_t> relabelled(const std::vector<std::int32_t>& labels,
                                     const std::vector<std::int32_t>& number_of);

/// Calls visit() for each of a pixel's up to four neighbours.
template <class Index, class Visit>
void each_neighbour(Index pixel, Index width, Index height, const Visit& visit) {
  const Index x = pixel % width;
  const Index y = pixel / width;
  if (y > 0) visit(pixel - width);
  if (x > 0) visit(pixel - 1);
  if (x + 1 < width) visit(pixel + 1);
  if (y + 1 < height) visit(pixel + width);
}

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
    std::atomic_ref<std::int64_t>(counts[label])
        .fetch_add(static_cast<std::int64_t>(end - begin), std::memory_order_relaxed);
  });
}

}  // namespace diacut
