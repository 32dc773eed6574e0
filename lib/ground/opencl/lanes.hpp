#pragma once

#include <cstddef>
#include <string>

#include "diacut/device.hpp"

namespace diacut {

/// How the kernels built on kernels/common/lanes.clh deal rows to work-items on a device.
struct LaneShape {
  std::size_t group = 1;
  std::size_t width = 8;
  std::size_t steps = 512;

  std::size_t chunk() const { return group * width * steps; }
};

/// Few long pieces on a CPU, whose items run one after the other; many neighbouring ones elsewhere.
LaneShape lane_shape(const DeviceInfo& device);
/// Neighbouring elements that a work-item computes at once in kernels with -DRUN: 16 on a CPU,
/// whose widest vectors hold as many floats, and 1 elsewhere.
std::size_t vector_run(const DeviceInfo& device);

/// Work-items of a group along a row of kernels that compute a vector of a plane each.
std::size_t plane_group(const DeviceInfo& device);

/// The macros that lanes.clh asks for.
std::string lane_options(const LaneShape& shape);

/// `rows` rounded up to 32 floats (128 bytes), then moved off multiples of 4 KiB: diagonals that
/// are a large power of two apart share cache sets, which made a CPU's product 8 times slower.
std::size_t dia_pitch(std::size_t rows);

}  // namespace diacut
