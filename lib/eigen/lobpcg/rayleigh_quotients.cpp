#include "eigen/lobpcg/rayleigh_quotients.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

RayleighQuotients::RayleighQuotients(Workspace& workspace)
    : workspace_(&workspace),
      sums_(workspace),
      divide_(workspace.context().kernel("eigen/lobpcg/rayleigh_quotients.cl", "divide_rows",
                                         workspace.options())) {}

std::vector<double> RayleighQuotients::compute(const GridMatrix& matrix,
                                               std::span<const GridDiagonal> diagonals,
                                               const Buffer<float>& s, const Buffer<float>& x,
                                               const Segments& segments, Buffer<float>& y,
                                               Buffer<float>& parts) {
  const std::size_t rows = segments.pitch * workspace_->active().all();
  set_arguments(divide_, x, s, rows, y);
  workspace_->context().launch(divide_, cl::NDRange(round_up(rows * workspace_->sets(), kRowGroup)),
                               cl::NDRange(kRowGroup));
  BlockQuadratic& quadratic = quadratics_
                                  .try_emplace(matrix.form(), workspace_->context(), diagonals,
                                               workspace_->columns(), matrix.form())
                                  .first->second;
  quadratic.launch(matrix, s, y, rows, parts);
  return sums_.compute(parts, segments);
}

}  // namespace diacut
