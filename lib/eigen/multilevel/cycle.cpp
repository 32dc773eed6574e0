#include "eigen/multilevel/cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

/// Items with more elements than that each keep too much in registers.
constexpr std::size_t kMostOfAnItem = 8;

std::size_t items_of(const DeviceInfo& device, const BlockCycle::Groups& groups) {
  return std::bit_floor(std::clamp<std::size_t>(device.max_work_group, 1, groups.items));
}

int reach_of(std::span<const GridDiagonal> diagonals) {
  int reach = 0;
  for (const GridDiagonal& each : diagonals) {
    reach = std::max({reach, std::abs(each.dx), std::abs(each.dy)});
  }
  return reach;
}

std::size_t rows_of(const GridLayout& layout, int image_height) {
  return static_cast<std::size_t>(layout.stride) * static_cast<std::size_t>(image_height);
}

/// Of a work-group, in vectors of its columns.
struct LocalMemory {
  std::size_t fine;
  std::size_t coarse;
  std::size_t partials;

  LocalMemory(const GridLayout& layout, int image_height, int reach, std::size_t items)
      : fine(rows_of(layout, image_height) +
             2 * static_cast<std::size_t>(reach) * static_cast<std::size_t>(layout.stride + 1)),
        coarse(static_cast<std::size_t>((layout.width + 1) / 2) *
               static_cast<std::size_t>((image_height + 1) / 2)),
        partials(std::max(items, coarse)) {}
  std::size_t total() const { return fine + partials + coarse; }
};

}  // namespace

bool BlockCycle::fits(const DeviceInfo& device, std::span<const GridDiagonal> diagonals,
                      const GridLayout& layout, int image_height, const Groups& groups) {
  const std::size_t items = items_of(device, groups);
  const LocalMemory memory(layout, image_height, reach_of(diagonals), items);
  const std::size_t bytes = static_cast<std::size_t>(groups.columns) * sizeof(float);
  return rows_of(layout, image_height) <= kMostRows && kMostRows / items <= kMostOfAnItem &&
         memory.total() * bytes <= device.local_memory;
}

BlockCycle::BlockCycle(Context& context, std::span<const GridDiagonal> diagonals,
                       const Groups& groups, std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      active_(or_one_image(context, std::move(active))),
      columns_(groups.columns),
      items_(items_of(context.info(), groups)),
      reach_(reach_of(diagonals)),
      kernel_(context.kernel(
          "eigen/multilevel/cycle.cl", "block_cycle",
          fmt::format("-DVEC={} {} -DGROUP={} -DPER={}", columns_,
                      matrix_options(diagonals, MatrixForm::kDia), items_, kMostRows / items_))) {}

void BlockCycle::launch(const Cycle& cycle, const Buffer<float>& b, Buffer<float>& x, int columns) {
  const GridLayout& layout = cycle.matrix.layout;
  const LocalMemory memory(layout, cycle.image_height, reach_, items_);
  const std::size_t bytes = static_cast<std::size_t>(columns_) * sizeof(float);
  const int sets = columns / columns_;
  set_arguments(kernel_, *cycle.matrix.values, layout.pitch, cycle.gain, layout.width,
                cycle.image_height, layout.stride, layout.height / static_cast<int>(active_->all()),
                cycle.inverse, cycle.smoother[0], cycle.smoother[1], cycle.factor, active_->list(),
                static_cast<int>(std::max<std::size_t>(items_ / memory.coarse, 1)), sets, b, x);
  with_device_errors("setting a kernel's arguments", [&] {
    kernel_.setArg(16, cl::Local(memory.fine * bytes));
    kernel_.setArg(17, cl::Local(memory.partials * bytes));
    kernel_.setArg(18, cl::Local(memory.coarse * bytes));
  });
  context_->launch(kernel_, cl::NDRange(static_cast<std::size_t>(sets) * items_, active_->count()),
                   cl::NDRange(items_, 1));
}

}  // namespace diacut
