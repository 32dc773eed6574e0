#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace diacut {

/// Main memory for the buffers of a CPU. What is given back stays mapped for later buffers of any
/// size, because the system clears each page before its first use: for a photograph that takes a
/// tenth of its time. Ranges are given by first fit, so that the pages in use lie together, and in
/// pages of 2 MiB where the system has them. Not safe for use by several threads at once.
class MemoryPool {
 public:
  /// `addresses`: bytes of the addresses that are set aside at once, for all memory that is ever
  /// taken at a time; only pages that are used take memory. Where the system refuses them, or more
  /// is taken, ranges are apart, and memory is lost between them.
  explicit MemoryPool(std::size_t addresses) : addresses_(addresses) {}

  struct GiveBack {
    MemoryPool* pool = nullptr;
    void operator()(std::byte* memory) const { pool->give_back(memory); }
  };
  /// Memory that returns to its pool, which must outlive it.
  using Memory = std::unique_ptr<std::byte, GiveBack>;

  /// At least so many bytes, whose contents are undefined, at the begin of a page; null where the
  /// system has no memory left.
  Memory take(std::size_t bytes);

  /// Bytes that are in memory, but not taken.
  std::uint64_t kept() const { return touched_ - taken_; }
  /// Returns kept memory to the system but for so many bytes; more stay where ranges behind them
  /// are taken. Precondition: no command that is queued uses what was given back.
  void keep_at_most(std::uint64_t bytes) noexcept;

 private:
  /// Memory of the system: [0, touched) was given at least once, the rest is not in memory yet.
  struct Mapping {
    explicit Mapping(std::size_t bytes);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    void* mapped = nullptr;  ///< Null where the system gave none.
    std::size_t mapped_bytes = 0;
    std::byte* begin = nullptr;
    std::size_t touched = 0;
    std::map<std::size_t, std::size_t> free;   ///< Bytes of free ranges by their offsets.
    std::map<std::size_t, std::size_t> taken;  ///< Likewise.
  };

  Memory take_from(Mapping& mapping, std::size_t bytes);
  void give_back(std::byte* memory) noexcept;

  std::size_t addresses_;
  std::vector<std::unique_ptr<Mapping>> mappings_;
  std::uint64_t touched_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace diacut
