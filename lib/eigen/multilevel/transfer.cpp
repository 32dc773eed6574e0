#include "eigen/multilevel/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {
namespace {

/// The kernel file that transfers blocks of that width on that device with a matrix in that form.
const char* kernel_file(const DeviceInfo& device, MatrixForm form, int columns) {
  if (takes_planes(device, columns)) return "eigen/multilevel/transfer_planes.cl";
  if (device.kind == DeviceKind::kCpu) return "eigen/multilevel/transfer_runs.cl";
  return form == MatrixForm::kDia ? "eigen/multilevel/transfer_pairs.cl"
                                  : "eigen/multilevel/transfer_elements.cl";
}

}  // namespace

BlockTransfer::BlockTransfer(Context& context, const Stencil& stencil, int columns, MatrixForm form,
                             std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      active_(or_one_image(context, std::move(active))),
      matrix_options_(matrix_options(context.info(), stencil, form, MatrixPart::kDisc)),
      form_(form),
      fine_each_(form == MatrixForm::kDia ? 2 : 1) {
  kernels_for(columns);
}

void BlockTransfer::request(Context& context, const Stencil& stencil, int columns,
                            MatrixForm form) {
  make_kernels(context, matrix_options(context.info(), stencil, form, MatrixPart::kDisc), form,
               columns);
}

BlockTransfer::Kernels& BlockTransfer::kernels_for(int columns) {
  Kernels& kernels = kernels_[program_columns(context_->info(), columns)];
  if (!kernels.prolong) kernels = make_kernels(*context_, matrix_options_, form_, columns);
  return kernels;
}

BlockTransfer::Kernels BlockTransfer::make_kernels(Context& context,
                                                   const std::string& matrix_options,
                                                   MatrixForm form, int columns) {
  const DeviceInfo& device = context.info();
  BlockRuns runs = plane_runs(device, columns);
  runs.tile = std::min<std::size_t>(runs.tile, 8);
  const char* const file = kernel_file(device, form, columns);
  const std::string options =
      fmt::format("{} {} {}", block_options(device, program_columns(device, columns)),
                  matrix_options, runs.options());
  return {context.kernel(file, "block_prolong", options),
          context.kernel(file, "block_restrict", options)};
}

void BlockTransfer::prolong(const NormalizedMatrix& fine, const Buffer<float>& gain,
                            const Buffer<float>& coarse_block, bool add, Buffer<float>& fine_block,
                            int columns) {
  const Grid grid = fine.grid();
  const BlockRuns runs = plane_runs(context_->info(), columns);
  Kernel& kernel = kernels_for(columns).prolong;
  set_arguments_from(kernel, set_matrix(kernel, fine), gain, grid.width, grid.height, grid.stride,
                     coarse_block, add ? 1 : 0, fine_block, active_->list(), fine.batch().height,
                     static_cast<int>(runs.sets));
  const auto stride = static_cast<std::size_t>(grid.stride);
  const auto image_lines = static_cast<std::size_t>(fine.batch().height);
  runs.launch(*context_, kernel, static_cast<std::size_t>(grid.height), stride,
              image_lines * (round_up(stride, fine_each_) / fine_each_), *active_);
}

void BlockTransfer::restrict_to(const NormalizedMatrix& fine, const Buffer<float>& gain,
                                const Buffer<float>& fine_block, float factor,
                                Buffer<float>& coarse_block, int columns) {
  const Grid grid = fine.grid();
  BlockRuns runs = plane_runs(context_->info(), columns);
  // Of the fine grid, of which a coarse element has two.
  if (takes_planes(context_->info(), columns)) runs.run /= 2;
  Kernel& kernel = kernels_for(columns).restrict_to;
  set_arguments_from(kernel, set_matrix(kernel, fine), gain, grid.width, grid.height, grid.stride,
                     fine_block, factor, coarse_block, active_->list(), fine.batch().height,
                     static_cast<int>(runs.sets));
  const auto height = static_cast<std::size_t>((grid.height + 1) / 2);
  const auto width = static_cast<std::size_t>((grid.width + 1) / 2);
  const auto image_lines = static_cast<std::size_t>((fine.batch().height + 1) / 2);
  runs.launch(*context_, kernel, height, width, image_lines * width, *active_);
}

}  // namespace diacut
