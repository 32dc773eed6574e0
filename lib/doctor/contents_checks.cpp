#include <algorithm>
#include <cstdint>
#include <numeric>

#include "doctor/checks.hpp"
#include "opencl/copy_elements.hpp"

namespace diacut {

namespace {

/// Fills and copies by words, and by bytes where the number of these is odd.
template <class T>
void check_contents(Trial& trial, std::size_t count) {
  std::vector<T> numbers(count);
  std::iota(numbers.begin(), numbers.end(), T{1});
  const Buffer<T> from = trial.uploaded(numbers);
  auto to = trial.context().allocate<T>(count, "values");
  to.fill(T{7});
  copy_elements(from, 1, to, 2, count - 4);
  std::vector<T> expected(count, T{7});
  std::copy(numbers.begin() + 1, numbers.end() - 3, expected.begin() + 2);
  Trial::require(to.download() == expected, "what memory is filled with, or what is copied,");
}

void contents_of_memory(Trial& trial) {
  check_contents<float>(trial, 3003);
  check_contents<std::uint8_t>(trial, 251);
}

}  // namespace

std::vector<DeviceCheck> contents_checks() {
  return {{"fills and copies of memory", contents_of_memory}};
}

}  // namespace diacut
