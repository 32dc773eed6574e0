#include "eigen/multilevel/transfer.hpp"

#include <fmt/format.h>

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
    : device_(context.info()),
      active_(or_one_image(context, std::move(active))),
      kernels_(context, "eigen/multilevel/dense_product.cl",
               block_options(context.info(), columns)) {}

void DenseProduct::launch(const Buffer<float>& matrices, std::size_t rows, const Buffer<float>& b,
                          Buffer<float>& out, int columns) {
  const int sets = columns / block_vector(device_, columns);
  kernels_.launch_rows("dense_product", rows * static_cast<std::size_t>(sets), active_->count(),
                       matrices, static_cast<int>(rows), b, out, active_->list(), sets);
}

BlockTransfer::BlockTransfer(Context& context, const Stencil& stencil, int columns, MatrixForm form,
                             std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      active_(or_one_image(context, std::move(active))),
      matrix_options_(matrix_options(context.info(), stencil, form, MatrixPart::kDisc)) {
  kernels(columns, 1);
}

const KernelFile& BlockTransfer::kernels(int columns, std::size_t parts) {
  const DeviceInfo& device = context_->info();
  const int built_for = program_columns(device, columns);
  const auto found = kernels_.find({built_for, parts});
  if (found != kernels_.end()) return found->second;
  const std::string options =
      fmt::format("{} {} {} -DPARTS={}", block_options(device, built_for), matrix_options_,
                  plane_runs(device, columns).options(), parts);
  const KernelFile made(*context_, kernel_file(device, columns), options);
  return kernels_.emplace(std::pair(built_for, parts), made).first->second;
}

void BlockTransfer::prepare(int columns) {
  kernels(columns, 1);
  kernels(columns, plane_runs(context_->info(), columns).most_parts());
}

void BlockTransfer::prolong(const NormalizedMatrix& fine, const Buffer<float>& gain,
                            const Buffer<float>& coarse_block, bool add, Buffer<float>& fine_block,
                            int columns) {
  const Grid grid = fine.grid();
  const BlockRuns runs = plane_runs(context_->info(), columns);
  const auto width = static_cast<std::size_t>(grid.width);
  const auto image_lines = static_cast<std::size_t>(fine.batch().height);
  runs.launch(kernels(columns, 1), "block_prolong", static_cast<std::size_t>(grid.height), width,
              image_lines * (round_up(width, kFineEach) / kFineEach), *active_, fine, gain,
              grid.width, grid.height, coarse_block, add ? 1 : 0, fine_block, active_->list(),
              fine.batch().height, static_cast<int>(runs.sets));
}

void BlockTransfer::restrict_to(const NormalizedMatrix& fine, const Buffer<float>& gain,
                                const Buffer<float>& fine_block, float factor,
                                Buffer<float>& coarse_block, int columns) {
  const Grid grid = fine.grid();
  BlockRuns runs = plane_runs(context_->info(), columns);
  // Of the fine grid, of which a coarse element has two.
  if (takes_planes(context_->info(), columns)) runs.run /= 2;
  const auto image_lines = static_cast<std::size_t>((fine.batch().height + 1) / 2);
  const auto width = static_cast<std::size_t>((grid.width + 1) / 2);
  // How an element is computed must not depend on how many images there are.
  const std::size_t parts = image_lines * width < kFewElements ? runs.most_parts() : 1;
  const auto height = static_cast<std::size_t>((grid.height + 1) / 2);
  runs.launch(kernels(columns, parts), "block_restrict", height, width, image_lines * width * parts,
              *active_, fine, gain, grid.width, grid.height, fine_block, factor, coarse_block,
              active_->list(), fine.batch().height, static_cast<int>(runs.sets));
}

}  // namespace diacut
