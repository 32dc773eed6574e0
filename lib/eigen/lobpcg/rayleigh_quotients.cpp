#include "eigen/lobpcg/rayleigh_quotients.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

RayleighQuotients::RayleighQuotients(Workspace& workspace)
    : workspace_(&workspace),
      sums_(workspace),
      divide_(workspace.context().kernel("eigen/lobpcg/rayleigh_quotients.cl", "divide_rows",
                                         workspace.options())) {}

BlockQuadratic& RayleighQuotients::quadratic_for(const NormalizedMatrix& matrix) {
  return quadratics_
      .try_emplace(matrix.form(), workspace_->context(), matrix.stencil(), workspace_->columns(),
                   matrix.form())
      .first->second;
}

std::vector<double> RayleighQuotients::compute(const NormalizedMatrix& matrix,
                                               const Buffer<float>& x, Buffer<float>& y,
                                               Buffer<float>& parts) {
  const std::size_t rows = matrix.rows();
  set_arguments(divide_, x, matrix.sqrt_degree(), rows, y);
  workspace_->context().launch(divide_, cl::NDRange(round_up(rows * workspace_->sets(), kRowGroup)),
                               cl::NDRange(kRowGroup));
  quadratic_for(matrix).launch(matrix, y, parts);
  const Batch& batch = matrix.batch();
  return sums_.compute(parts, {batch.image.rows(), batch.segment()});
}

}  // namespace diacut
