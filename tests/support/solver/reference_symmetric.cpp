#include "reference_symmetric.hpp"

#include <cmath>
#include <cstdint>

namespace diacut {

ReferenceSymmetric reference_compress(const HostDiaMatrix& matrix, const Grid& grid,
                                      const Stencil& stencil, MatvecStorage storage,
                                      const std::vector<float>* sqrt_degree) {
  const DiaShape& shape = matrix.shape;
  ReferenceSymmetric result{shape, std::vector<double>(shape.stored(), 0.0), {}};
  std::vector<float> roots(shape.rows, 1.0f);
  if (sqrt_degree != nullptr) {
    roots = *sqrt_degree;
    for (const double root : roots) result.scale.push_back(root > 0 ? 1 / root : 0);
  }
  std::vector<double> sums(shape.rows, 0.0);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const std::size_t row = static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.width) +
                              static_cast<std::size_t>(x);
      for (std::size_t k = stencil.centre() + 1; k < stencil.size(); ++k) {
        const auto [dx, dy] = stencil.entries[k];
        if (x + dx < 0 || x + dx >= grid.width || y + dy >= grid.height) continue;
        const std::size_t col = row + static_cast<std::size_t>(shape.offsets[k]);
        // What is rounded is a float, as on the device: in double it could lie on the other side of
        // the middle between two numbers of the storage.
        const float unscaled = matrix.values[k * shape.pitch + row] * (roots[row] * roots[col]);
        const double weight = reference_weight(unscaled, storage);
        result.values[k * shape.pitch + row] = weight;
        result.values[stencil.opposite(k) * shape.pitch + col] = weight;
        sums[row] += weight;
        sums[col] += weight;
      }
    }
  }
  for (std::size_t row = 0; row < shape.rows; ++row) {
    double& diagonal = result.values[stencil.centre() * shape.pitch + row];
    const double root = roots[row];
    diagonal = sqrt_degree != nullptr ? root * root - sums[row]
                                      : double{matrix.values[stencil.centre() * shape.pitch + row]};
  }
  return result;
}

ReferenceSymmetric reference_compress_rooted(const HostDiaMatrix& matrix, const Grid& grid,
                                             const Stencil& stencil, MatvecStorage storage,
                                             const std::vector<float>& roots) {
  ReferenceSymmetric result = reference_compress(matrix, grid, stencil, storage, nullptr);
  const DiaShape& shape = result.shape;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    double rest = roots[row];
    for (std::size_t d = 0; d < shape.diagonals(); ++d) {
      const std::int64_t col = static_cast<std::int64_t>(row) + shape.offsets[d];
      if (d == stencil.centre() || col < 0 || col >= static_cast<std::int64_t>(shape.rows))
        continue;
      rest -= result.values[d * shape.pitch + row] * roots[static_cast<std::size_t>(col)];
    }
    result.values[stencil.centre() * shape.pitch + row] = roots[row] > 0 ? rest / roots[row] : 0;
  }
  return result;
}

std::vector<double> reference_matvec(const ReferenceSymmetric& matrix, const std::vector<double>& x,
                                     std::vector<double>* magnitude) {
  const DiaShape& shape = matrix.shape;
  const auto rows = static_cast<std::int64_t>(shape.rows);
  std::vector<double> result(shape.rows, 0.0);
  if (magnitude != nullptr) magnitude->assign(shape.rows, 0.0);
  const auto scale = [&](std::int64_t row) {
    return matrix.scale.empty() ? 1.0 : matrix.scale[static_cast<std::size_t>(row)];
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::size_t d = 0; d < shape.diagonals(); ++d) {
      const std::int64_t col = row + shape.offsets[d];
      if (col < 0 || col >= rows) continue;
      const double term = scale(row) * matrix.values[d * shape.pitch + row] * scale(col) * x[col];
      result[row] += term;
      if (magnitude != nullptr) (*magnitude)[row] += std::abs(term);
    }
  }
  return result;
}

}  // namespace diacut
