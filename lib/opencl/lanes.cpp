#include "opencl/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace diacut {

LaneShape lane_shape(const DeviceInfo& device) {
  if (device.kind == DeviceKind::kCpu) return {1, 8, 256};
  const std::size_t group = std::bit_floor(std::clamp<std::size_t>(device.max_work_group, 1, 256));
  return {group, 1, 4};
}

std::size_t vector_run(const DeviceInfo& device) {
  return device.kind == DeviceKind::kCpu ? 16 : 1;
}

std::size_t plane_group(const DeviceInfo& device) {
  return device.kind == DeviceKind::kCpu ? 4 : 32;
}

std::string lane_options(const LaneShape& shape) {
  return fmt::format("-DGROUP={} -DWIDTH={} -DSTEPS={}", shape.group, shape.width, shape.steps);
}

}  // namespace diacut
