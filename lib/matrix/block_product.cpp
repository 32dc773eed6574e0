#include <fmt/format.h>

#include "matrix/block.hpp"
#include "opencl/arguments.hpp"

namespace diacut {
namespace {

constexpr const char* kName = "block_product";

/// The kernel file that computes the product on that device with a matrix in that form and blocks
/// of that width.
const char* kernel_file(const DeviceInfo& device, MatrixForm form, int columns) {
  const bool pitched = form == MatrixForm::kDia;
  if (takes_planes(device, columns)) return "matrix/block_product_planes.cl";
  if (device.kind != DeviceKind::kCpu) {
    return pitched ? "matrix/block_product_tiles.cl" : "matrix/block_product_columns.cl";
  }
  return pitched ? "matrix/block_product_runs.cl" : "matrix/block_product_decoded.cl";
}

}  // namespace

BlockProduct::BlockProduct(Context& context, const Stencil& stencil, int columns, MatrixForm form,
                           std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      columns_(columns),
      active_(or_one_image(context, std::move(active))),
      form_(form),
      matrix_options_(matrix_options(context.info(), stencil, form)) {
  kernels_for(columns);
}

BlockProduct::Kernels& BlockProduct::kernels_for(int columns) {
  Kernels& kernels = kernels_[program_columns(context_->info(), columns)];
  if (!kernels.one) kernels = make_kernels(*context_, matrix_options_, form_, columns);
  return kernels;
}

BlockProduct::Kernels BlockProduct::make_kernels(Context& context,
                                                 const std::string& matrix_options, MatrixForm form,
                                                 int columns) {
  const DeviceInfo& device = context.info();
  const int built_for = program_columns(device, columns);
  Kernels kernels;
  const BlockRuns runs = plane_runs(device, columns);
  const std::string options =
      fmt::format("{} {} {}", block_options(device, built_for), matrix_options, runs.options());
  const char* file = kernel_file(device, form, columns);
  if (device.kind == DeviceKind::kCpu) {
    kernels.one = context.kernel(file, kName, options);
    return kernels;
  }
  const auto variant = [&](std::size_t each, std::size_t parts) {
    return context.kernel(file, kName,
                          fmt::format("{} -DEACH={} -DPARTS={}", options, each, parts));
  };
  kernels.parts = variant(1, runs.most_parts());
  kernels.one = variant(1, 1);
  kernels.tiles = variant(runs.most_each(form), 1);
  return kernels;
}

void BlockProduct::launch(const NormalizedMatrix& matrix, const Buffer<float>& x,
                          const Buffer<float>& other, Buffer<float>& out, float alpha, float beta,
                          float gamma, int columns) {
  const Grid grid = matrix.grid();
  const auto width = static_cast<std::size_t>(grid.width);
  const std::size_t segment = matrix.batch().segment();
  const BlockRuns runs = plane_runs(context_->info(), columns);
  Kernels& kernels = kernels_for(columns);
  // How an element is computed must not depend on how many images there are.
  const bool in_parts = kernels.parts && segment < kFewElements;
  const std::size_t items = segment * active_->count() * runs.sets;
  const std::size_t most = runs.most_each(form_);
  const std::size_t each = !in_parts && kernels.tiles && items / most >= kManyItems ? most : 1;
  Kernel& kernel = in_parts ? kernels.parts : each > 1 ? kernels.tiles : kernels.one;
  set_arguments_from(kernel, set_matrix(kernel, matrix), grid.rows(), width, x, other, out, alpha,
                     beta, gamma, active_->list(), segment, static_cast<int>(runs.sets));
  // Runs of a matrix in DIA form may go on in the next image row, but not those of planes.
  const bool by_rows = matrix.form() != MatrixForm::kDia || takes_planes(context_->info(), columns);
  // A segment that does not begin at a multiple of `each` has elements of one tile more. Those of a
  // compressed matrix lie below one another.
  const std::size_t tiles = matrix.form() == MatrixForm::kDia
                                ? round_up(segment, each) / each + (segment % each == 0 ? 0 : 1)
                                : round_up(segment / width, each) / each * width;
  const auto height = static_cast<std::size_t>(grid.height);
  runs.launch(*context_, kernel, by_rows ? height : 1, by_rows ? width : grid.rows(),
              tiles * (in_parts ? runs.most_parts() : 1), *active_);
}

}  // namespace diacut
