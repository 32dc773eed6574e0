#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "spmv/blocks.hpp"

namespace diacut {

/// The most rows of a block that for_each_block() walks through.
inline constexpr std::size_t kTallestBlock = 16;

/// Visits the non-empty blocks of one block row from left to right: the `height` rows from `top` on
/// of a matrix by rows, in blocks of `width` columns. Calls visit(from, to, entries): row i of the
/// block has the entries from[i] to to[i], all rows together `entries` of them. Precondition:
/// height <= kTallestBlock.
template <class Visit>
void for_each_block(std::span<const std::uint64_t> starts, std::span<const std::uint32_t> columns,
                    std::size_t top, std::size_t height, std::size_t width, const Visit& visit) {
  std::array<std::uint64_t, kTallestBlock> from{};
  std::array<std::uint64_t, kTallestBlock> to{};
  for (std::size_t i = 0; i < height; ++i) from[i] = starts[top + i];
  while (true) {
    // The next block begins at the least column that any row has left.
    std::uint32_t least = kNoColumn;
    for (std::size_t i = 0; i < height; ++i) {
      if (from[i] < starts[top + i + 1]) least = std::min(least, columns[from[i]]);
    }
    if (least == kNoColumn) return;
    const std::uint64_t end = (least / width + 1) * width;
    std::size_t entries = 0;
    for (std::size_t i = 0; i < height; ++i) {
      to[i] = from[i];
      while (to[i] < starts[top + i + 1] && columns[to[i]] < end) ++to[i];
      entries += to[i] - from[i];
    }
    visit(from, to, entries);
    from = to;
  }
}

}  // namespace diacut
