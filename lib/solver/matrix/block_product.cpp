#include <fmt/format.h>

#include "matrix/block.hpp"

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
      matrix_options_(matrix_options(context.info(), stencil, form)),
      unused_(context.allocate<cl_float4>(1, "factors of a product")) {
  kernel(columns, 1, plane_runs(context.info(), columns).most_parts());
}

const KernelFile& BlockProduct::kernel(int columns, std::size_t each, std::size_t parts) {
  const DeviceInfo& device = context_->info();
  const int built_for = program_columns(device, columns);
  const auto key = std::tuple(built_for, each, parts);
  const auto found = kernels_.find(key);
  if (found != kernels_.end()) return found->second;
  const std::string options =
      fmt::format("{} {} {} -DEACH={} -DPARTS={}", block_options(device, built_for),
                  matrix_options_, plane_runs(device, columns).options(), each, parts);
  const KernelFile made(*context_, kernel_file(device, form_, columns), options);
  return kernels_.emplace(key, made).first->second;
}

void BlockProduct::prepare(int columns) {
  const BlockRuns runs = plane_runs(context_->info(), columns);
  kernel(columns, 1, runs.most_parts());
  kernel(columns, 1, 1);
  kernel(columns, runs.most_each(form_), 1);
}

void BlockProduct::launch(const NormalizedMatrix& matrix, const Buffer<float>& x,
                          const Buffer<float>& other, Buffer<float>& out, const cl_float4& same,
                          const Buffer<cl_float4>& factors, int first_factor, int columns) {
  const Grid grid = matrix.grid();
  const auto width = static_cast<std::size_t>(grid.width);
  const std::size_t segment = matrix.batch().segment();
  const BlockRuns runs = plane_runs(context_->info(), columns);
  // How an element is computed must not depend on how many images there are.
  const std::size_t parts = segment < kFewElements ? runs.most_parts() : 1;
  const std::size_t items = segment * active_->count() * runs.sets;
  const std::size_t most = runs.most_each(form_);
  const std::size_t each = segment >= kFewElements && items / most >= kManyItems ? most : 1;
  // Runs of a matrix in DIA form go on in the next image row of the same image, but not those of
  // planes.
  const bool by_rows = matrix.form() != MatrixForm::kDia || takes_planes(context_->info(), columns);
  // A segment that does not begin at a multiple of `each` has elements of one tile more. Those of a
  // compressed matrix lie below one another.
  const std::size_t tiles = matrix.form() == MatrixForm::kDia
                                ? round_up(segment, each) / each + (segment % each == 0 ? 0 : 1)
                                : round_up(segment / width, each) / each * width;
  const auto height = static_cast<std::size_t>(grid.height);
  runs.launch(kernel(columns, each, parts), kName, by_rows ? height : grid.rows() / segment,
              by_rows ? width : segment, tiles * parts, *active_, matrix, grid.rows(), width, x,
              other, out, same, factors, first_factor, active_->list(), segment,
              static_cast<int>(runs.sets));
}

}  // namespace diacut
