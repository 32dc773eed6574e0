#include "opencl/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "opencl/context.hpp"

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

std::size_t dia_pitch(std::size_t rows) {
  constexpr std::size_t kLine = 32;    // floats in 128 bytes
  constexpr std::size_t kPage = 1024;  // floats in 4 KiB
  const std::size_t pitch = round_up(rows, kLine);
  return pitch % kPage == 0 ? pitch + kLine : pitch;
}

}  // namespace diacut
