#include "eigen/dense/dense.hpp"

#include <algorithm>
#include <span>

#include "diacut/errors.hpp"
#include "eigen/dense/symmetric_eigenpairs.hpp"
#include "eigen/solvers.hpp"

namespace diacut {

DenseProblem dense_problem(const HostDiaMatrix& matrix, const std::vector<float>& sqrt_degree) {
  DenseProblem problem;
  const auto rows = static_cast<std::int64_t>(matrix.shape.rows);
  std::vector<int> unknown(matrix.shape.rows, -1);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!(sqrt_degree[row] > 0)) continue;
    unknown[row] = static_cast<int>(problem.element.size());
    problem.element.push_back(row);
  }
  const auto n = static_cast<Eigen::Index>(problem.element.size());
  problem.trivial.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) problem.trivial(i) = sqrt_degree[problem.element[i]];
  problem.trivial.normalize();

  problem.a = -kTrivialMoved * problem.trivial * problem.trivial.transpose();
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::int64_t row = problem.element[i];
      const std::int64_t col = row + matrix.shape.offsets[d];
      if (col < 0 || col >= rows || unknown[col] < 0) continue;
      problem.a(i, unknown[col]) += matrix.values[d * matrix.shape.pitch + row];
    }
  }
  return problem;
}

DeviceEigenvectors dense_eigenvectors(Context& context, const NormalizedMatrix& matrix,
                                      const EigenParameters& parameters) {
  const auto [element, trivial, a] =
      dense_problem(download(matrix.dia()), matrix.sqrt_degree().download());
  const auto n = static_cast<Eigen::Index>(element.size());
  if (!a.allFinite()) throw NumericalError("the affinity matrix holds NaN or infinity");
  const SymmetricEigenpairs pairs = symmetric_eigenpairs(a);

  DeviceEigenvectors result;
  result.report.solver = "dense";
  result.count = static_cast<int>(std::min<Eigen::Index>(parameters.vectors, n));
  result.report.converged = pairs.converged;
  Eigen::MatrixXf basis = Eigen::MatrixXf::Zero(matrix.shape().pitch, result.count);
  basis.col(0)(element) = trivial.cast<float>();
  for (int k = 1; k < result.count; ++k) {
    basis.col(k)(element) = pairs.vectors.col(n - k).cast<float>();
  }
  result.basis = context.allocate<float>(basis.size(), "eigenvectors");
  result.basis.upload(std::span<const float>(basis.data(), basis.size()));
  return result;
}

}  // namespace diacut
