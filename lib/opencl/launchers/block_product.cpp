#include "opencl/launchers/block_product.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

/// Items of a GPU that keep it busy: an item takes more elements only where so many are left.
constexpr std::size_t kManyItems = 100'000;

}  // namespace

BlockProduct::BlockProduct(Context& context, std::span<const GridDiagonal> diagonals, int columns,
                           MatrixForm form, std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      columns_(columns),
      active_(or_one_image(context, std::move(active))),
      runs_(block_runs(context.info(), columns)) {
  const std::string options = fmt::format("{} {} {}", block_options(context.info(), columns),
                                          matrix_options(diagonals, form), runs_.options());
  const std::size_t most = form == MatrixForm::kDia ? runs_.most_each() : 1;
  for (const std::size_t each : {1U, 2U, 4U}) {
    if (each > most) break;
    kernels_.emplace_back(each, context.kernel("block_product.cl", "block_product",
                                               fmt::format("{} -DEACH={}", options, each)));
  }
}

void BlockProduct::launch(const GridMatrix& matrix, const Buffer<float>& x,
                          const Buffer<float>& other, Buffer<float>& out, float alpha, float beta,
                          float gamma) {
  const GridLayout& layout = matrix.layout;
  const auto stride = static_cast<std::size_t>(layout.stride);
  const std::size_t segment = layout.rows() / active_->all();
  const std::size_t items = segment * active_->count() * runs_.sets;
  auto chosen = kernels_.begin();
  while (chosen + 1 != kernels_.end() && items / (chosen + 1)->first >= kManyItems) ++chosen;
  auto& [each, kernel] = *chosen;
  set_arguments_from(kernel, set_matrix(kernel, matrix), layout.rows(), stride, x, other, out,
                     alpha, beta, gamma, active_->list(), segment);
  // A segment that does not begin at a multiple of `each` has elements of one tile more.
  const std::size_t tiles = round_up(segment, each) / each + (segment % each == 0 ? 0 : 1);
  if (matrix.form() == MatrixForm::kDia) {
    runs_.launch(*context_, kernel, 1, layout.rows(), tiles, *active_);
  } else {
    runs_.launch(*context_, kernel, static_cast<std::size_t>(layout.height), stride, tiles,
                 *active_);
  }
}

}  // namespace diacut
