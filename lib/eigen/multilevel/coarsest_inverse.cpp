#include "eigen/multilevel/coarsest_inverse.hpp"

#include <Eigen/Dense>
#include <cstdint>

namespace diacut {

namespace {

/// Added to the eigenvalues of I - A, which are at least about 1e-6 where there are seeds.
constexpr double kShift = 1e-7;

}  // namespace

std::optional<std::vector<float>> definite_inverse(const DiaShape& shape, const float* values,
                                                   std::span<const float> sqrt_degree) {
  const auto rows = static_cast<Eigen::Index>(shape.rows);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(rows, rows) * (1 + kShift);
  for (std::size_t d = 0; d < shape.diagonals(); ++d) {
    const std::int64_t offset = shape.offsets[d];
    const float* diagonal = values + d * shape.pitch;
    for (Eigen::Index row = 0; row < rows; ++row) {
      const Eigen::Index column = row + offset;
      if (column < 0 || column >= rows) continue;
      if (sqrt_degree[static_cast<std::size_t>(row)] > 0 &&
          sqrt_degree[static_cast<std::size_t>(column)] > 0) {
        matrix(row, column) -= diagonal[row];
      }
    }
  }
  if (!matrix.allFinite()) return std::nullopt;
  const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
  if (factor.info() != Eigen::Success) return std::nullopt;
  const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(rows, rows));
  std::vector<float> result(shape.rows * shape.rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < rows; ++j) {
      if (sqrt_degree[static_cast<std::size_t>(i)] > 0 &&
          sqrt_degree[static_cast<std::size_t>(j)] > 0) {
        result[static_cast<std::size_t>(i * rows + j)] = static_cast<float>(inverse(i, j));
      }
    }
  }
  return result;
}

}  // namespace diacut
