#include "opencl/launchers/block_transfer.hpp"

#include <fmt/format.h>

#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

BlockTransfer::BlockTransfer(Context& context, std::span<const GridDiagonal> diagonals, int columns,
                             MatrixForm form, std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      active_(or_one_image(context, std::move(active))),
      runs_(block_runs(context.info(), columns)),
      fine_each_(form == MatrixForm::kDia ? 2 : 1) {
  const std::string options = fmt::format("{} {} {}", block_options(context.info(), columns),
                                          matrix_options(diagonals, form), runs_.options());
  prolong_ = context.kernel("block_transfer.cl", "block_prolong", options);
  restrict_ = context.kernel("block_transfer.cl", "block_restrict", options);
}

void BlockTransfer::prolong(const GridMatrix& matrix, const Buffer<float>& gain,
                            const Buffer<float>& coarse_block, bool add,
                            Buffer<float>& fine_block) {
  const GridLayout& fine = matrix.layout;
  set_arguments_from(prolong_, set_matrix(prolong_, matrix), gain, fine.width, fine.height,
                     fine.stride, coarse_block, add ? 1 : 0, fine_block, active_->list(),
                     fine.height / static_cast<int>(active_->all()));
  const auto height = static_cast<std::size_t>(fine.height);
  const auto stride = static_cast<std::size_t>(fine.stride);
  runs_.launch(*context_, prolong_, height, stride,
               height / active_->all() * (round_up(stride, fine_each_) / fine_each_), *active_);
}

void BlockTransfer::restrict_to(const GridMatrix& matrix, const Buffer<float>& gain,
                                const Buffer<float>& fine_block, float factor,
                                Buffer<float>& coarse_block) {
  const GridLayout& fine = matrix.layout;
  set_arguments_from(restrict_, set_matrix(restrict_, matrix), gain, fine.width, fine.height,
                     fine.stride, fine_block, factor, coarse_block, active_->list(),
                     fine.height / static_cast<int>(active_->all()));
  const auto height = static_cast<std::size_t>((fine.height + 1) / 2);
  const auto width = static_cast<std::size_t>((fine.width + 1) / 2);
  const std::size_t lines = (static_cast<std::size_t>(fine.height) / active_->all() + 1) / 2;
  runs_.launch(*context_, restrict_, height, width, lines * width, *active_);
}

}  // namespace diacut
