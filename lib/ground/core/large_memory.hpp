#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace diacut {

/// Asks for large pages for memory that nothing was written to yet: the system hands out and clears
/// memory a page at a time when it is first written, and pages of 4 kB take as long as the work
/// itself. Nothing happens where the system has no large pages, or the memory is small.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

/// prefer_large_pages(), and has the system hand out the memory at once, on all cores.
void take_large_pages(void* memory, std::size_t bytes);

/// A vector of many megabytes.
template <class T>
std::vector<T> large_vector(std::size_t count, const T& value = T{}) {
  std::vector<T> values;
  values.reserve(count);
  take_large_pages(values.data(), count * sizeof(T));
  values.resize(count, value);
  return values;
}

/// An array of many megabytes that is not filled.
template <class T>
std::unique_ptr<T[]> large_array(std::size_t count) {
  auto values = std::make_unique_for_overwrite<T[]>(count);
  prefer_large_pages(values.get(), count * sizeof(T));
  return values;
}

}  // namespace diacut
