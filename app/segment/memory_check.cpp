#include "memory_check.hpp"

#include <algorithm>
#include <limits>

#include "diacut/errors.hpp"

namespace diacut::app {

namespace {

/// A processor of the host whose memory has no end: what runs there takes the most main memory.
DeviceInfo endless_cpu() {
  DeviceInfo device;
  device.kind = DeviceKind::kCpu;
  device.global_memory = device.max_allocation = std::numeric_limits<std::uint64_t>::max();
  return device;
}

}  // namespace

MemoryShare MemoryCheck::take(const ImageSize& size, const FeatureSize& features) {
  const auto need_on = [&](const DeviceInfo& device) {
    return check_memory(size, options_.parameters, device, options_.memory,
                        {options_.sidecars.has(Sidecar::kBoundary),
                         options_.results.has(Result::kEigenvectors), features, options_.verify});
  };
  std::optional<DeviceInfo> device = known_device();
  if (!device) {
    // Drivers take longer to load than most images to be read.
    try {
      return enter(need_on(endless_cpu()));
    } catch (const Error&) {  // It may fit the device.
    }
    try {
      device = choose_device(options_.device);
    } catch (const Error&) {  // Reported when the device is opened.
      return nullptr;
    }
  }
  return enter(need_on(*device));
}

std::optional<DeviceInfo> MemoryCheck::known_device() const {
  const std::lock_guard lock(mutex_);
  return device_;
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
  device_ = device;
}

std::uint64_t MemoryCheck::most_together() const {
  const std::lock_guard lock(mutex_);
  return most_together_;
}

}  // namespace diacut::app
