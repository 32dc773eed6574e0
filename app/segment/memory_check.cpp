#include "memory_check.hpp"

#include <algorithm>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut::app {

MemoryLedger::MemoryLedger(std::function<std::uint64_t()> available)
    : available_(std::move(available)), entered_(std::make_shared<Entered>()) {}

MemoryShare MemoryLedger::enter(std::uint64_t bytes) {
  {
    const std::lock_guard lock(entered_->mutex);
    const std::uint64_t sum = entered_->bytes + bytes;
    if (entered_->images > 0) {
      const std::uint64_t available = available_();
      if (available > 0 && sum > available) throw NoRoomBesideOthers();
      entered_->most_together = std::max(entered_->most_together, sum);
    }
    entered_->bytes = sum;
    ++entered_->images;
  }
  return {entered_.get(), [entered = entered_, bytes](const void*) {
            const std::lock_guard lock(entered->mutex);
            entered->bytes -= bytes;
            --entered->images;
          }};
}

std::uint64_t MemoryLedger::most_together() const {
  const std::lock_guard lock(entered_->mutex);
  return entered_->most_together;
}

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
                  {options_.companions.has(Companion::kEdges),
                   options_.results.has(Result::kEigenvectors), features, options_.verify});
  check_host_memory(plan, size, *device);
  return ledger_.enter(plan.host_bytes());
}

void MemoryCheck::use(const DeviceInfo& device) {
  const std::lock_guard lock(mutex_);
  chosen_ = true;
  device_ = device;
}

}  // namespace diacut::app
