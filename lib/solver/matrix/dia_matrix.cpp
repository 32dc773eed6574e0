#include "matrix/dia_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace diacut {

DiaShape dia_shape(std::size_t rows, std::vector<std::int64_t> offsets) {
  return {rows, dia_pitch(rows), std::move(offsets)};
}

DiaShape dia_shape(const Grid& grid, const Stencil& stencil) {
  std::vector<std::int64_t> offsets;
  offsets.reserve(stencil.size());
  for (const StencilOffset& entry : stencil.entries) {
    offsets.push_back(static_cast<std::int64_t>(entry.dy) * grid.width + entry.dx);
  }
  return dia_shape(grid.rows(), std::move(offsets));
}

std::pair<std::int64_t, std::int64_t> reach_of(const std::vector<std::int64_t>& offsets) {
  std::pair<std::int64_t, std::int64_t> result{0, 0};
  for (const std::int64_t offset : offsets) {
    result.first = std::min(result.first, offset);
    result.second = std::max(result.second, offset);
  }
  return result;
}

std::string compiled_offsets(const std::vector<std::int64_t>& offsets, std::size_t pitch,
                             std::size_t block_terms) {
  // Without a space, which would end the definition.
  std::string terms;
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    if (d % block_terms == 0) terms += d == 0 ? "BLOCK(" : ")BLOCK(";
    terms += fmt::format("TERM({},{})", d, offsets[d]);
  }
  if (!terms.empty()) terms += ')';
  const auto [lowest, highest] = reach_of(offsets);
  return fmt::format("-DPITCH={} -DLOWEST={} -DHIGHEST={} -DTERMS={}", pitch, lowest, highest,
                     terms);
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
