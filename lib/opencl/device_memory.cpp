#include "opencl/device_memory.hpp"

#include <fmt/format.h>

#include "diacut/errors.hpp"

namespace diacut {

namespace {
double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }
}  // namespace

bool DeviceMemory::fits(const DeviceInfo& device, std::uint64_t limit) const {
  return total <= (limit != 0 ? limit : device.global_memory) && piece <= device.max_allocation;
}

void DeviceMemory::check(const DeviceInfo& device, std::uint64_t limit,
                         const std::string& advice) const {
  if (fits(device, limit)) return;
  throw DeviceMemoryError(fmt::format(
      "not enough device memory: {:.0f} MiB are needed, of which {:.0f} MiB in one "
      "piece; {} has {:.0f} MiB, at most {:.0f} MiB in one piece; {}",
      mib(total), mib(piece), device.name, mib(limit != 0 ? limit : device.global_memory),
      mib(device.max_allocation), advice));
}

}  // namespace diacut
