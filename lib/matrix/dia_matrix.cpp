#include "matrix/dia_matrix.hpp"

#include <cmath>
#include <utility>

namespace diacut {

DiaShape dia_shape(std::size_t rows, std::vector<std::int64_t> offsets) {
  return {rows, dia_pitch(rows), std::move(offsets)};
}

DiaShape dia_shape(const Grid& grid, const Stencil& stencil) {
  std::vector<std::int64_t> offsets;
  offsets.reserve(stencil.size());
  for (const StencilOffset& entry : stencil.entries) {
    offsets.push_back(static_cast<std::int64_t>(entry.dy) * grid.stride + entry.dx);
  }
  return dia_shape(grid.rows(), std::move(offsets));
}

HostDiaMatrix download(const DiaMatrix& matrix) { return {matrix.shape, matrix.values.download()}; }

DiaMatrix upload(Context& context, const HostDiaMatrix& matrix) {
  DiaMatrix result{matrix.shape, context.allocate<float>(matrix.shape.stored(), "the matrix")};
  result.values.upload(matrix.values);
  return result;
}

std::vector<double> reference_matvec(const HostDiaMatrix& matrix, const std::vector<double>& x,
                                     std::vector<double>* magnitude) {
  const DiaShape& shape = matrix.shape;
  const auto rows = static_cast<std::int64_t>(shape.rows);
  std::vector<double> result(shape.rows, 0.0);
  if (magnitude != nullptr) magnitude->assign(shape.rows, 0.0);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::size_t d = 0; d < shape.diagonals(); ++d) {
      const std::int64_t col = row + shape.offsets[d];
      if (col < 0 || col >= rows) continue;
      const double term = static_cast<double>(matrix.values[d * shape.pitch + row]) * x[col];
      result[row] += term;
      if (magnitude != nullptr) (*magnitude)[row] += std::abs(term);
    }
  }
  return result;
}

}  // namespace diacut
