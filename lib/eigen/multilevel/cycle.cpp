#include "eigen/multilevel/cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

/// The most elements of a work-item: with more, it keeps too much in registers.
constexpr std::size_t kMostOfAnItem = 8;

std::size_t items_of(const DeviceInfo& device, const BlockCycle::Groups& groups) {
  return std::bit_floor(std::clamp<std::size_t>(device.max_work_group, 1, groups.items));
}

/// What a work-group holds in local memory, in vectors of its columns.
struct LocalMemory {
  std::size_t fine;
  std::size_t coarse;
  std::size_t partials;

  LocalMemory(const Grid& image, int radius, std::size_t items)
      : fine(image.rows() +
             2 * static_cast<std::size_t>(radius) * static_cast<std::size_t>(image.stride + 1)),
        coarse(static_cast<std::size_t>((image.width + 1) / 2) *
               static_cast<std::size_t>((image.height + 1) / 2)),
        partials(std::max(items, coarse)) {}
  std::size_t total() const { return fine + partials + coarse; }
};

}  // namespace

bool BlockCycle::fits(const DeviceInfo& device, const Batch& batch, int radius,
                      const Groups& groups) {
  const std::size_t items = items_of(device, groups);
  const LocalMemory memory(batch.image, radius, items);
  const std::size_t bytes = static_cast<std::size_t>(groups.columns) * sizeof(float);
  return batch.image.rows() <= kMostRows && kMostRows / items <= kMostOfAnItem &&
         memory.total() * bytes <= device.local_memory;
}

BlockCycle::BlockCycle(Context& context, const Stencil& stencil, const Groups& groups,
                       std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      active_(or_one_image(context, std::move(active))),
      columns_(groups.columns),
      items_(items_of(context.info(), groups)),
      radius_(stencil.radius),
      kernel_(context.kernel("eigen/multilevel/cycle.cl", "block_cycle",
                             fmt::format("-DVEC={} {} -DGROUP={} -DPER={}", columns_,
                                         matrix_options(context.info(), stencil, MatrixForm::kDia),
                                         items_, kMostRows / items_))) {}

void BlockCycle::launch(const Cycle& cycle, const Buffer<float>& b, Buffer<float>& x, int columns) {
  const Batch& batch = cycle.matrix.batch();
  const LocalMemory memory(batch.image, radius_, items_);
  const std::size_t bytes = static_cast<std::size_t>(columns_) * sizeof(float);
  const int sets = columns / columns_;
  set_arguments_from(
      kernel_, set_matrix(kernel_, cycle.matrix), cycle.gain, batch.image.width, batch.image.height,
      batch.image.stride, batch.height, cycle.inverse, cycle.smoother[0], cycle.smoother[1],
      cycle.restriction_factor, active_->list(),
      static_cast<int>(std::max<std::size_t>(items_ / memory.coarse, 1)), sets, b, x,
      cl::Local(memory.fine * bytes), cl::Local(memory.partials * bytes),
      cl::Local(memory.coarse * bytes));
  context_->launch(kernel_, cl::NDRange(static_cast<std::size_t>(sets) * items_, active_->count()),
                   cl::NDRange(items_, 1));
}

}  // namespace diacut
