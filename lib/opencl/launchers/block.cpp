#include "opencl/launchers/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace diacut {

int block_vector(const DeviceInfo& device) { return device.kind == DeviceKind::kCpu ? 8 : 4; }

std::string block_options(const DeviceInfo& device, int columns) {
  return fmt::format("-DCOLUMNS={} -DVEC={}", columns, block_vector(device));
}

std::string bands_option(std::span<const GridDiagonal> diagonals) {
  std::string option = "-DBANDS=";
  for (std::size_t d = 0; d < diagonals.size();) {
    std::size_t end = d + 1;
    while (end < diagonals.size() && diagonals[end].dy == diagonals[d].dy) ++end;
    option += fmt::format("BAND({},{},{},{})", d, diagonals[d].dy, diagonals[d].dx, end - d);
    d = end;
  }
  return option;
}

int reach_of(std::span<const GridDiagonal> diagonals) {
  int reach = 0;
  for (const GridDiagonal& each : diagonals) {
    reach = std::max({reach, std::abs(each.dx), std::abs(each.dy)});
  }
  return reach;
}

}  // namespace diacut
