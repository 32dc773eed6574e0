#include "core/large_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>

#include "core/parallel.hpp"

namespace diacut {

namespace {

constexpr std::size_t kLarge = std::size_t{8} << 20;
/// What one core takes at a time.
constexpr std::size_t kPiece = std::size_t{4} << 20;

/// The whole pages in a piece of memory.
std::span<std::byte> pages_of(void* memory, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t skipped = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
  return {static_cast<std::byte*>(memory) + skipped, (bytes - skipped) / page * page};
}

}  // namespace

void prefer_large_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes < kLarge) return;
  const std::span<std::byte> pages = pages_of(memory, bytes);
  // A system that refuses hands out small pages.
  ::madvise(pages.data(), pages.size(), MADV_HUGEPAGE);
}

void take_large_pages(void* memory, std::size_t bytes) {
  if (bytes < kLarge) return;
  prefer_large_pages(memory, bytes);
  const std::span<std::byte> pages = pages_of(memory, bytes);
  parallel_for(pages.size() / kPiece, [&](std::size_t k) {
    // A system that does not know that hands the memory out when it is written.
    ::madvise(pages.data() + k * kPiece, kPiece, MADV_POPULATE_WRITE);
  });
}

}  // namespace diacut
