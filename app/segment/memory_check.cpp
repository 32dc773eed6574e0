#include "memory_check.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include "diacut/errors.hpp"

namespace diacut::app {

namespace {

MemoryLedger::Need need_of(const MemoryPlan& plan, DeviceKind kind) {
  MemoryLedger::Need need;
  std::uint64_t most = 0;
  for (const MemoryPhase& phase : plan.phases) {
    const std::uint64_t device = kind == DeviceKind::kCpu ? phase.device_bytes : 0;
    const std::uint64_t bytes = phase.host_bytes - device;
    std::uint64_t& part = phase.device_bytes > 0 ? need.working : need.finishing;
    part = std::max(part, bytes);
    need.device = std::max(need.device, device);
    most = std::max(most, bytes);
  }
  need.reading = plan.phases.front().host_bytes;
  need.finishing = std::max(need.finishing, need.working);
  // Elsewhere many images may be in the same state at once.
  if (kind != DeviceKind::kCpu) need = {most, most, most, need.device};
  return need;
}

}  // namespace

class MemoryLedger::Entries {
 public:
  using Entry = std::list<Need>::iterator;

  Entry add(const Need& need) {
    const std::lock_guard lock(mutex_);
    return needs_.insert(needs_.end(), need);
  }

  void remove(Entry entry) {
    const std::lock_guard lock(mutex_);
    needs_.erase(entry);
  }

  /// The sum of all images; 0 if there is one.
  std::uint64_t together() {
    const std::lock_guard lock(mutex_);
    if (needs_.size() < 2) return 0;
    std::uint64_t sum = 0;
    std::uint64_t device = 0;
    std::size_t rank = 0;
    for (const Need& need : needs_) {
      sum += rank == 0 ? need.finishing : rank == 1 ? need.working : need.reading;
      device = std::max(device, need.device);
      ++rank;
    }
    return sum + device;
  }

  void note(std::uint64_t sum) {
    const std::lock_guard lock(mutex_);
    most_ = std::max(most_, sum);
  }
  std::uint64_t most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  std::list<Need> needs_;
  std::uint64_t most_ = 0;
};

MemoryLedger::MemoryLedger(std::function<std::uint64_t()> available)
    : available_(std::move(available)), entries_(std::make_shared<Entries>()) {}

MemoryShare MemoryLedger::enter(const Need& need) {
  const auto entry = entries_->add(need);
  const MemoryShare share(&*entry,
                          [entries = entries_, entry](const void*) { entries->remove(entry); });
  const std::uint64_t sum = entries_->together();
  if (sum == 0) return share;
  const std::uint64_t available = available_();
  if (available > 0 && sum > available) throw NoRoomBesideOthers();
  entries_->note(sum);
  return share;
}

std::uint64_t MemoryLedger::most_together() const { return entries_->most(); }

MemoryShare MemoryCheck::take(const ImageSize& size, const FeatureSize& features) {
  std::call_once(chosen_, [this] {
    const std::lock_guard lock(mutex_);
    try {
      device_ = choose_device(options_.device);
    } catch (const Error&) {
      device_.reset();
    }
  });
  const std::optional<DeviceInfo> device = [this] {
    const std::lock_guard lock(mutex_);
    return device_;
  }();
  if (!device) return nullptr;
  const MemoryPlan plan =
      plan_memory(size, options_.parameters, *device, options_.memory,
                  {options_.companions.has(Companion::kEdges),
                   options_.results.has(Result::kEigenvectors), features, options_.verify});
  check_host_memory(plan, size, *device);
  return ledger_.enter(need_of(plan, device->kind));
}

void MemoryCheck::use(const DeviceInfo& device) {
  std::call_once(chosen_, [] {});
  const std::lock_guard lock(mutex_);
  device_ = device;
}

}  // namespace diacut::app
