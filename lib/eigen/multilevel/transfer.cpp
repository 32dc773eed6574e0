#include "eigen/multilevel/transfer.hpp"

#include <fmt/format.h>

#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

/// Fine elements that a work-item takes on a GPU.
constexpr std::size_t kFineEach = 2;

/// The kernel file that transfers blocks of that width on that device.
const char* kernel_file(const DeviceInfo& device, int columns) {
  if (takes_planes(device, columns)) return "eigen/multilevel/transfer_planes.cl";
  return device.kind == DeviceKind::kCpu ? "eigen/multilevel/transfer_runs.cl"
                                         : "eigen/multilevel/transfer_pairs.cl";
}

}  // namespace

DenseProduct::DenseProduct(Context& context, int columns,
                           std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      active_(or_one_image(context, std::move(active))),
      kernel_(context.kernel("eigen/multilevel/dense_product.cl", "dense_product",
                             block_options(context.info(), columns))) {}

void DenseProduct::launch(const Buffer<float>& matrices, std::size_t rows, const Buffer<float>& b,
                          Buffer<float>& out, int columns) {
  const int sets = columns / block_vector(context_->info(), columns);
  set_arguments(kernel_, matrices, static_cast<int>(rows), b, out, active_->list(), sets);
  context_->launch(
      kernel_,
      cl::NDRange(round_up(rows * static_cast<std::size_t>(sets), kRowGroup), active_->count()),
      cl::NDRange(kRowGroup, 1));
}

BlockTransfer::BlockTransfer(Context& context, const Stencil& stencil, int columns, MatrixForm form,
                             std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      active_(or_one_image(context, std::move(active))),
      matrix_options_(matrix_options(context.info(), stencil, form, MatrixPart::kDisc)) {
  kernels_for(columns);
}

BlockTransfer::Kernels& BlockTransfer::kernels_for(int columns) {
  Kernels& kernels = kernels_[program_columns(context_->info(), columns)];
  if (!kernels.prolong) kernels = make_kernels(*context_, matrix_options_, columns);
  return kernels;
}

BlockTransfer::Kernels BlockTransfer::make_kernels(Context& context,
                                                   const std::string& matrix_options, int columns) {
  const DeviceInfo& device = context.info();
  const BlockRuns runs = plane_runs(device, columns);
  const char* const file = kernel_file(device, columns);
  const std::string options =
      fmt::format("{} {} {}", block_options(device, program_columns(device, columns)),
                  matrix_options, runs.options());
  if (device.kind == DeviceKind::kCpu) {
    return {context.kernel(file, "block_prolong", options),
            context.kernel(file, "block_restrict", options),
            {}};
  }
  const std::string whole = options + " -DPARTS=1";
  return {context.kernel(file, "block_prolong", whole),
          context.kernel(file, "block_restrict", whole),
          context.kernel(file, "block_restrict",
                         fmt::format("{} -DPARTS={}", options, runs.most_parts()))};
}

void BlockTransfer::prolong(const NormalizedMatrix& fine, const Buffer<float>& gain,
                            const Buffer<float>& coarse_block, bool add, Buffer<float>& fine_block,
                            int columns) {
  const Grid grid = fine.grid();
  const BlockRuns runs = plane_runs(context_->info(), columns);
  Kernel& kernel = kernels_for(columns).prolong;
  set_arguments_from(kernel, set_matrix(kernel, fine), gain, grid.width, grid.height, coarse_block,
                     add ? 1 : 0, fine_block, active_->list(), fine.batch().height,
                     static_cast<int>(runs.sets));
  const auto width = static_cast<std::size_t>(grid.width);
  const auto image_lines = static_cast<std::size_t>(fine.batch().height);
  runs.launch(*context_, kernel, static_cast<std::size_t>(grid.height), width,
              image_lines * (round_up(width, kFineEach) / kFineEach), *active_);
}

void BlockTransfer::restrict_to(const NormalizedMatrix& fine, const Buffer<float>& gain,
                                const Buffer<float>& fine_block, float factor,
                                Buffer<float>& coarse_block, int columns) {
  const Grid grid = fine.grid();
  BlockRuns runs = plane_runs(context_->info(), columns);
  // Of the fine grid, of which a coarse element has two.
  if (takes_planes(context_->info(), columns)) runs.run /= 2;
  Kernels& kernels = kernels_for(columns);
  const auto image_lines = static_cast<std::size_t>((fine.batch().height + 1) / 2);
  const auto width = static_cast<std::size_t>((grid.width + 1) / 2);
  // How an element is computed must not depend on how many images there are.
  const bool in_parts = kernels.restrict_parts && image_lines * width < kFewElements;
  Kernel& kernel = in_parts ? kernels.restrict_parts : kernels.restrict_to;
  set_arguments_from(kernel, set_matrix(kernel, fine), gain, grid.width, grid.height, fine_block,
                     factor, coarse_block, active_->list(), fine.batch().height,
                     static_cast<int>(runs.sets));
  const auto height = static_cast<std::size_t>((grid.height + 1) / 2);
  runs.launch(*context_, kernel, height, width,
              image_lines * width * (in_parts ? runs.most_parts() : 1), *active_);
}

}  // namespace diacut
