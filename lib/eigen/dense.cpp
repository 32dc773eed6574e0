#include "eigen/dense.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "diacut/errors.hpp"

namespace diacut {

KrylovResult dense_eigenvectors(Context& context, const DiaMatrix& matrix,
                                const std::vector<float>& sqrt_degree,
                                const EigenParameters& parameters) {
  const HostDiaMatrix host = download(matrix);
  const auto rows = static_cast<std::int64_t>(host.shape.rows);
  std::vector<std::int64_t> element;  // of each unknown
  std::vector<int> unknown(host.shape.rows, -1);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!(sqrt_degree[row] > 0)) continue;
    unknown[row] = static_cast<int>(element.size());
    element.push_back(row);
  }
  const auto n = static_cast<Eigen::Index>(element.size());

  Eigen::VectorXd trivial(n);
  for (Eigen::Index i = 0; i < n; ++i) trivial(i) = sqrt_degree[element[i]];
  trivial.normalize();

  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (std::size_t d = 0; d < host.shape.diagonals(); ++d) {
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::int64_t col = element[i] + host.shape.offsets[d];
      if (col < 0 || col >= rows || unknown[col] < 0) continue;
      a(i, unknown[col]) +=
          host.values[d * host.shape.pitch + static_cast<std::size_t>(element[i])];
    }
  }
  if (!a.allFinite()) throw NumericalError("the affinity matrix holds NaN or infinity");
  // The spectrum lies in [-1, 1]: this moves the trivial vector below all others.
  a -= 3.0 * trivial * trivial.transpose();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a);

  KrylovResult result;
  result.solver = "dense";
  result.count = static_cast<int>(std::min<Eigen::Index>(parameters.vectors, n));
  result.converged = solver.info() == Eigen::Success;
  const std::size_t pitch = host.shape.pitch;
  std::vector<float> basis(pitch * static_cast<std::size_t>(result.count), 0.0F);
  for (int k = 0; k < result.count; ++k) {
    const Eigen::VectorXd vector = k == 0 ? trivial : solver.eigenvectors().col(n - k);
    for (Eigen::Index i = 0; i < n; ++i) {
      basis[static_cast<std::size_t>(k) * pitch + static_cast<std::size_t>(element[i])] =
          static_cast<float>(vector(i));
    }
  }
  result.basis = context.allocate<float>(basis.size(), "eigenvectors");
  result.basis.upload(basis);
  return result;
}

}  // namespace diacut
