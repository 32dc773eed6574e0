#include "opencl/memory_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "opencl/context.hpp"

namespace diacut {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

MemoryPool::Mapping::Mapping(std::size_t bytes) : mapped_bytes(bytes + kHugePage) {
  void* const memory = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  mapped = memory;
  const std::size_t start = reinterpret_cast<std::uintptr_t>(memory) % kHugePage;
  begin = static_cast<std::byte*>(memory) + (kHugePage - start) % kHugePage;
  ::madvise(begin, bytes, MADV_HUGEPAGE);
  free.emplace(0, bytes);
}

MemoryPool::Mapping::~Mapping() {
  if (mapped != nullptr) ::munmap(mapped, mapped_bytes);
}

MemoryPool::Memory MemoryPool::take_from(Mapping& mapping, std::size_t bytes) {
  const auto found = std::find_if(mapping.free.begin(), mapping.free.end(),
                                  [&](const auto& range) { return range.second >= bytes; });
  if (found == mapping.free.end()) return {};
  const std::size_t offset = found->first;
  mapping.taken.emplace(offset, bytes);
  auto rest = mapping.free.extract(found);
  rest.key() += bytes;
  rest.mapped() -= bytes;
  if (rest.mapped() > 0) mapping.free.insert(std::move(rest));
  taken_ += bytes;
  const std::size_t touched = std::max(mapping.touched, offset + bytes);
  touched_ += touched - mapping.touched;
  mapping.touched = touched;
  return Memory(mapping.begin + offset, {this});
}

MemoryPool::Memory MemoryPool::take(std::size_t bytes) {
  const std::size_t whole = round_up(std::max<std::size_t>(bytes, 1), kPage);
  for (const auto& mapping : mappings_) {
    if (Memory memory = take_from(*mapping, whole)) return memory;
  }
  for (const std::size_t size : {std::max(addresses_, whole), whole}) {
    auto mapping = std::make_unique<Mapping>(round_up(size, kHugePage));
    if (mapping->mapped == nullptr) continue;
    mappings_.push_back(std::move(mapping));
    return take_from(*mappings_.back(), whole);
  }
  return {};
}

void MemoryPool::give_back(std::byte* memory) noexcept {
  const auto holds = [&](const auto& each) {
    return memory >= each->begin && memory < each->begin + (each->mapped_bytes - kHugePage);
  };
  Mapping& mapping = **std::find_if(mappings_.begin(), mappings_.end(), holds);
  auto range = mapping.taken.extract(static_cast<std::size_t>(memory - mapping.begin));
  taken_ -= range.mapped();
  auto freed = mapping.free.insert(std::move(range)).position;
  const auto next = std::next(freed);
  if (next != mapping.free.end() && freed->first + freed->second == next->first) {
    freed->second += next->second;
    mapping.free.erase(next);
  }
  if (freed != mapping.free.begin()) {
    const auto before = std::prev(freed);
    if (before->first + before->second == freed->first) {
      before->second += freed->second;
      mapping.free.erase(freed);
    }
  }
}

void MemoryPool::keep_at_most(std::uint64_t bytes) noexcept {
  for (auto each = mappings_.rbegin(); each != mappings_.rend() && kept() > bytes; ++each) {
    Mapping& mapping = **each;
    const std::size_t least =
        mapping.taken.empty() ? 0 : mapping.taken.rbegin()->first + mapping.taken.rbegin()->second;
    const std::size_t spare =
        std::min<std::uint64_t>(mapping.touched - least, round_up(kept() - bytes, kPage));
    mapping.touched -= spare;
    touched_ -= spare;
    ::madvise(mapping.begin + mapping.touched, spare, MADV_DONTNEED);
  }
}

}  // namespace diacut
