#include "matrix/block_quadratic.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

BlockQuadratic::BlockQuadratic(Context& context, const Stencil& stencil, int columns,
                               MatrixForm form)
    : context_(&context) {
  const BlockRuns runs = block_runs(context.info(), columns);
  sets_ = runs.sets;
  each_ = form == MatrixForm::kDia ? runs.most_each(form) : 1;
  kernel_ = context.kernel("matrix/block_quadratic.cl", "block_quadratic",
                           fmt::format("{} {} -DEACH={}", block_options(context.info(), columns),
                                       matrix_options(context.info(), stencil, form), each_));
}

void BlockQuadratic::launch(const NormalizedMatrix& matrix, const Buffer<float>& y,
                            Buffer<float>& parts) {
  set_arguments_from(kernel_, set_matrix(kernel_, matrix),
                     static_cast<std::size_t>(matrix.grid().stride), matrix.sqrt_degree(), y,
                     matrix.rows(), parts);
  const std::size_t items = round_up(matrix.rows(), each_) / each_ * sets_;
  context_->launch(kernel_, cl::NDRange(round_up(items, kRowGroup)), cl::NDRange(kRowGroup));
}

}  // namespace diacut
