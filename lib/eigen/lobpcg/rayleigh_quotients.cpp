#include "eigen/lobpcg/rayleigh_quotients.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

RayleighQuotients::RayleighQuotients(Workspace& workspace, const NormalizedMatrix& matrix)
    : workspace_(&workspace),
      sums_(workspace),
      divide_(workspace.context().kernel("eigen/lobpcg/rayleigh_quotients.cl", "divide_rows",
                                         workspace.options())),
      quadratic_(workspace.context(), matrix.stencil(), workspace.columns(), matrix.form()) {}

std::vector<double> RayleighQuotients::compute(const NormalizedMatrix& matrix,
                                               const Buffer<float>& x, Buffer<float>& y,
                                               Buffer<float>& parts) {
  const std::size_t rows = matrix.rows();
  set_arguments(divide_, x, matrix.sqrt_degree(), rows, y);
  workspace_->context().launch(divide_, cl::NDRange(round_up(rows * workspace_->sets(), kRowGroup)),
                               cl::NDRange(kRowGroup));
  quadratic_.launch(matrix, y, parts);
  const Batch& batch = matrix.batch();
  return sums_.compute(parts, {batch.image.rows(), batch.segment()});
}

}  // namespace diacut
