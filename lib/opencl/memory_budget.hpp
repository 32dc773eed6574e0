#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/device.hpp"

namespace diacut {

/// What a run is going to allocate on the device, known before anything is allocated.
class MemoryBudget {
 public:
  struct Item {
    std::string what;
    std::uint64_t bytes = 0;
  };

  void add(std::string what, std::uint64_t bytes);

  const std::vector<Item>& items() const { return items_; }
  std::uint64_t total() const;
  /// The largest single allocation; `what` is empty for an empty budget.
  Item largest() const;

  /// Whether total() is within `limit` (0: the device's global memory) and largest() within the
  /// device's largest allocation.
  bool fits(const DeviceInfo& device, std::uint64_t limit) const;

  /// Throws DeviceError when it does not fit. The message gives both figures and `advice`.
  void check(const DeviceInfo& device, std::uint64_t limit, const std::string& advice) const;

 private:
  std::vector<Item> items_;
};

}  // namespace diacut
