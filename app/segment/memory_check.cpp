#include "memory_check.hpp"

#include <algorithm>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut::app {

MemoryShare MemoryCheck::take(const ImageSize& size, const FeatureSize& features) {
  const std::optional<DeviceInfo> device = [this] {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(chosen_, true)) {
      try {
        device_ = choose_device(options_.device);
      } catch (const Error&) {  // Told when the device is opened.
      }
    }
    return device_;
  }();
  if (!device) return nullptr;
  const MemoryPlan plan =
      plan_memory(size, options_.parameters, *device, options_.memory,
                  {options_.companions.has(Companion::kBoundary),
                   options_.results.has(Result::kEigenvectors), features, options_.verify});
  check_host_memory(plan, size, *device);
  return enter(plan.host_bytes());
}

MemoryShare MemoryCheck::enter(std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t sum = entered_ + bytes;
    if (images_ > 0) {
      const std::uint64_t available = available_();
      if (available > 0 && sum > available) throw NoRoomBesideOthers();
      most_together_ = std::max(most_together_, sum);
    }
    entered_ = sum;
    ++images_;
  }
  return {this, [this, bytes](const void*) {
            const std::lock_guard lock(mutex_);
            entered_ -= bytes;
            --images_;
          }};
}

void MemoryCheck::use(const DeviceInfo& device) {
  const std::lock_guard lock(mutex_);
  chosen_ = true;
  device_ = device;
}

std::uint64_t MemoryCheck::most_together() const {
  const std::lock_guard lock(mutex_);
  return most_together_;
}

}  // namespace diacut::app
