#include "memory_check.hpp"

#include <algorithm>

#include "diacut/errors.hpp"

namespace diacut::app {

MemoryShare MemoryCheck::take(const ImageSize& size, const FeatureSize& features) {
  const std::optional<DeviceInfo> device = [this] {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(chosen_, true)) {
      try {
        device_ = choose_device(options_.device);
      } catch (const Error&) {  // Reported when the device is opened.
      }
    }
    return device_;
  }();
  if (!device) return nullptr;
  return enter(
      check_memory(size, options_.parameters, *device, options_.memory,
                   {options_.sidecars.has(Sidecar::kBoundary),
                    options_.results.has(Result::kEigenvectors), features, options_.verify}));
}

MemoryShare MemoryCheck::enter(const MemoryNeed& need) {
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t computing = std::max(most_computing_, need.host_bytes - need.waiting_bytes);
    const std::uint64_t sum = waiting_ + need.waiting_bytes + computing;
    if (images_ > 0) {
      const std::uint64_t available = available_();
      if (available > 0 && sum > available) throw NoRoomBesideOthers();
      most_together_ = std::max(most_together_, sum);
    }
    waiting_ += need.waiting_bytes;
    most_computing_ = computing;
    ++images_;
  }
  return {this, [this, bytes = need.waiting_bytes](const void*) {
            const std::lock_guard lock(mutex_);
            waiting_ -= bytes;
            if (--images_ == 0) most_computing_ = 0;
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
