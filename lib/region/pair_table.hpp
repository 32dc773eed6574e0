#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/large_memory.hpp"

namespace diacut {

/// A number for each of many unordered pairs of parts: a hash table with linear probing, which is
/// never walked, so that nothing depends on where its entries lie.
class PairTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// For at most `most` pairs at once.
  explicit PairTable(std::size_t most)
      : mask_(std::bit_ceil(2 * most + 2) - 1),
        shift_(64 - static_cast<int>(std::bit_width(mask_))),
        slots_(large_vector<Slot>(mask_ + 1)) {}

  /// The number of a pair. If it has none, it gets `number`, and kNone is returned.
  std::uint32_t find_or_enter(std::int32_t a, std::int32_t b, std::uint32_t number) {
    const std::uint64_t wanted = key(a, b);
    Slot& slot = slots_[find(wanted)];
    if (slot.number != kNone) return slot.number;
    slot = {wanted, number};
    return kNone;
  }

  /// Precondition: the pair has a number.
  void remove(std::int32_t a, std::int32_t b) {
    std::size_t hole = find(key(a, b));
    for (std::size_t at = next(hole); slots_[at].number != kNone; at = next(at)) {
      // Moves into the hole what would no longer be found behind it.
      const std::size_t home = place(slots_[at].key);
      if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].number = kNone;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = kNone;
  };

  static std::uint64_t key(std::int32_t a, std::int32_t b) {
    const auto [low, high] = std::minmax(a, b);
    return static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint64_t>(high);
  }
  std::size_t next(std::size_t slot) const { return (slot + 1) & mask_; }
  /// Fibonacci hashing: the upper bits of the product depend on all bits of the key.
  std::size_t place(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15U) >> shift_; }
  /// The slot of the key, or the empty one where it belongs.
  std::size_t find(std::uint64_t key) const {
    std::size_t slot = place(key);
    while (slots_[slot].number != kNone && slots_[slot].key != key) slot = next(slot);
    return slot;
  }

  std::size_t mask_;
  int shift_;
  std::vector<Slot> slots_;
};

}  // namespace diacut
