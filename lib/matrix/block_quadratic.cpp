#include "matrix/block_quadratic.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

BlockQuadratic::BlockQuadratic(Context& context, std::span<const GridDiagonal> diagonals,
                               int columns, MatrixForm form)
    : context_(&context) {
  const BlockRuns runs = block_runs(context.info(), columns);
  sets_ = runs.sets;
  each_ = form == MatrixForm::kDia ? runs.most_each() : 1;
  kernel_ = context.kernel("matrix/block_quadratic.cl", "block_quadratic",
                           fmt::format("{} {} -DEACH={}", block_options(context.info(), columns),
                                       matrix_options(diagonals, form), each_));
}

void BlockQuadratic::launch(const GridMatrix& matrix, const Buffer<float>& s,
                            const Buffer<float>& y, std::size_t rows, Buffer<float>& parts) {
  set_arguments_from(kernel_, set_matrix(kernel_, matrix),
                     static_cast<std::size_t>(matrix.layout.stride), s, y, rows, parts);
  const std::size_t items = round_up(rows, each_) / each_ * sets_;
  context_->launch(kernel_, cl::NDRange(round_up(items, kRowGroup)), cl::NDRange(kRowGroup));
}

}  // namespace diacut
