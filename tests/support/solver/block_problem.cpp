#include "block_problem.hpp"

#include <gtest/gtest.h>

#include "matrix/symmetric_dia.hpp"

namespace diacut::testing {

Rows rows_of(const std::vector<float>& block, int columns) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto count = static_cast<Eigen::Index>(block.size()) / columns;
  return Eigen::Map<const Floats>(block.data(), count, columns).cast<double>();
}

void DrawnBlock::require_unchanged() const {
  Trial::require(device.download() == values, "a block that is only read is another one");
}

BlockSums::BlockSums(const HostDiaMatrix& matrix, const Rows& x)
    : values(x.rows(), x.cols()), magnitudes(x.rows(), x.cols()) {
  for (Eigen::Index c = 0; c < x.cols(); ++c) {
    const Eigen::VectorXd column = x.col(c);
    std::vector<double> sums;
    const std::vector<double> product =
        reference_matvec(matrix, {column.begin(), column.end()}, &sums);
    values.col(c) = Eigen::Map<const Eigen::VectorXd>(product.data(), x.rows());
    magnitudes.col(c) = Eigen::Map<const Eigen::VectorXd>(sums.data(), x.rows());
  }
}

void expect_symmetric(const HostDiaMatrix& matrix) {
  const auto rows = static_cast<std::int64_t>(matrix.shape.rows);
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    const std::size_t opposite = matrix.shape.diagonals() - 1 - d;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t col = row + matrix.shape.offsets[d];
      const float value = matrix.values[d * matrix.shape.pitch + row];
      const bool inside = col >= 0 && col < rows;
      ASSERT_EQ(value, inside ? matrix.values[opposite * matrix.shape.pitch + col] : 0.0f);
    }
  }
}

HostDiaMatrix rounded_matrix(const MatrixProblem& problem, MatvecStorage storage) {
  HostDiaMatrix result = problem.matrix;
  for (std::size_t at = 0; at < result.values.size(); ++at) {
    float& weight = result.values[at];
    if (at / problem.pitch() != problem.stencil.centre()) {
      weight = static_cast<float>(reference_weight(weight, storage));
    }
  }
  return result;
}

CompressedProblem::CompressedProblem(Context& context, const BlockProblem& problem)
    : matrix(matrix_of(context, problem)) {
  matrix.compress(context);
  rounded = rounded_matrix(problem);
  // The main diagonal's own error is the subject of the tests of compress() with kRooted.
  const std::vector<float> diagonal = matrix.compressed().diagonal.download();
  for (std::size_t row = 0; row < diagonal.size(); ++row) {
    rounded.values[problem.stencil.centre() * problem.pitch() + row] = diagonal[row];
  }
}

Eigen::SparseMatrix<double> reference_interpolation(const MatrixProblem& problem,
                                                    const std::vector<float>& gain) {
  const int coarse_width = (problem.grid.width + 1) / 2;
  const int coarse_height = (problem.grid.height + 1) / 2;
  std::vector<Eigen::Triplet<double>> entries;
  for (int y = 0; y < problem.grid.height; ++y) {
    for (int x = 0; x < problem.grid.width; ++x) {
      const std::size_t i = problem.element(x, y);
      for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
        const StencilOffset& hop = problem.stencil.entries[d];
        const int nx = x + hop.dx;
        const int ny = y + hop.dy;
        if (!problem.stencil.in_disc(hop) || !problem.contains(nx, ny)) continue;
        if (nx % 2 != 0 || ny % 2 != 0) continue;
        entries.emplace_back(i, ny / 2 * coarse_width + nx / 2, gain[i] * problem.entry(d, i));
      }
    }
  }
  Eigen::SparseMatrix<double> p(static_cast<Eigen::Index>(problem.rows()),
                                coarse_width * coarse_height);
  p.setFromTriplets(entries.begin(), entries.end());
  return p;
}

}  // namespace diacut::testing
