#include "opencl/launchers/block_product.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

BlockProduct::BlockProduct(Context& context, std::span<const GridDiagonal> diagonals, int columns,
                           MatrixForm form)
    : context_(&context), columns_(columns), runs_(block_runs(context.info(), columns)) {
  kernel_ = context.kernel("block_product.cl", "block_product",
                           fmt::format("{} {} {}", block_options(context.info(), columns),
                                       matrix_options(diagonals, form), runs_.options()));
}

void BlockProduct::launch(const GridMatrix& matrix, const Buffer<float>& x,
                          const Buffer<float>& other, Buffer<float>& out, float alpha, float beta,
                          float gamma) {
  const GridLayout& layout = matrix.layout;
  const auto stride = static_cast<std::size_t>(layout.stride);
  set_arguments_from(kernel_, set_matrix(kernel_, matrix), layout.rows(), stride, x, other, out,
                     alpha, beta, gamma);
  if (matrix.form() == MatrixForm::kDia) {
    runs_.launch(*context_, kernel_, 1, layout.rows());
  } else {
    runs_.launch(*context_, kernel_, static_cast<std::size_t>(layout.height), stride);
  }
}

}  // namespace diacut
