#include "opencl/memory_budget.hpp"

#include <fmt/format.h>

#include "diacut/errors.hpp"

namespace diacut {

namespace {
double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }
}  // namespace

void MemoryBudget::add(std::string what, std::uint64_t bytes) {
  items_.push_back({std::move(what), bytes});
}

std::uint64_t MemoryBudget::total() const {
  std::uint64_t sum = 0;
  for (const Item& item : items_) sum += item.bytes;
  return sum;
}

MemoryBudget::Item MemoryBudget::largest() const {
  Item largest;
  for (const Item& item : items_) {
    if (item.bytes > largest.bytes) largest = item;
  }
  return largest;
}

bool MemoryBudget::fits(const DeviceInfo& device, std::uint64_t limit) const {
  return total() <= (limit != 0 ? limit : device.global_memory) &&
         largest().bytes <= device.max_allocation;
}

void MemoryBudget::check(const DeviceInfo& device, std::uint64_t limit,
                         const std::string& advice) const {
  if (fits(device, limit)) return;
  const std::uint64_t available = limit != 0 ? limit : device.global_memory;
  const Item top = largest();
  throw DeviceMemoryError(fmt::format(
      "not enough device memory: {:.0f} MiB are needed, of which {:.0f} MiB in one piece ({}); {} "
      "has {:.0f} MiB, at most {:.0f} MiB in one piece; {}",
      mib(total()), mib(top.bytes), top.what, device.name, mib(available),
      mib(device.max_allocation), advice));
}

}  // namespace diacut
