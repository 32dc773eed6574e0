#include "opencl/launchers/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "opencl/arguments.hpp"

namespace diacut {

int block_vector(const DeviceInfo& device) { return device.kind == DeviceKind::kCpu ? 8 : 4; }

std::string block_options(const DeviceInfo& device, int columns) {
  return fmt::format("-DCOLUMNS={} -DVEC={}", columns, block_vector(device));
}

BlockRuns block_runs(const DeviceInfo& device, int columns) {
  BlockRuns runs;
  runs.sets = static_cast<std::size_t>(columns / block_vector(device));
  if (device.kind != DeviceKind::kCpu) return runs;
  for (const std::size_t taken : {2U, 3U, 4U}) {
    if (runs.sets % taken == 0) runs.taken = taken;
  }
  runs.tile = runs.taken > 2 ? 4 : 8;
  runs.run = 64;
  return runs;
}

std::string BlockRuns::options() const {
  return fmt::format("-DRUN={} -DTILE={} -DTAKEN={}", run, tile, taken);
}

void BlockRuns::launch(Context& context, const cl::Kernel& kernel, std::size_t lines,
                       std::size_t length) const {
  if (run == 1) {
    context.launch(kernel, cl::NDRange(round_up(lines * length * sets, kRowGroup)),
                   cl::NDRange(kRowGroup));
  } else {
    context.launch(kernel, cl::NDRange(lines * (round_up(length, run) / run), sets / taken),
                   cl::NDRange(1, 1));
  }
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
