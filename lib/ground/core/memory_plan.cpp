#include "diacut/memory_plan.hpp"

#include <algorithm>

namespace diacut {

namespace {

std::uint64_t most_of(const MemoryPlan& plan, std::uint64_t MemoryPhase::*bytes) {
  std::uint64_t most = 0;
  for (const MemoryPhase& phase : plan.phases) most = std::max(most, phase.*bytes);
  return most;
}

}  // namespace

std::uint64_t MemoryPlan::device_bytes() const {
  return most_of(*this, &MemoryPhase::device_bytes);
}

std::uint64_t MemoryPlan::host_bytes() const { return most_of(*this, &MemoryPhase::host_bytes); }

}  // namespace diacut
