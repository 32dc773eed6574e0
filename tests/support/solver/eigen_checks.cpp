#include "eigen_checks.hpp"

#include <algorithm>
#include <utility>

#include "answers/checks.hpp"
#include "block_problem.hpp"

namespace diacut::testing {

Eigen::MatrixXd host_vectors(const DeviceEigenvectors& found) {
  const std::vector<float> basis = found.basis.download();
  return Eigen::Map<const Eigen::MatrixXf>(basis.data(), static_cast<Eigen::Index>(found.pitch),
                                           found.count)
      .topRows(static_cast<Eigen::Index>(found.rows))
      .cast<double>();
}

double subspace_sine(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const Eigen::MatrixXd rest = b - a * (a.transpose() * b);
  return Eigen::JacobiSVD<Eigen::MatrixXd>(rest).singularValues()(0);
}

void expect_sound(const MatrixProblem& problem, const DeviceEigenvectors& found, double tolerance) {
  const Eigen::MatrixXd z = host_vectors(found);
  ASSERT_EQ(found.values.size(), static_cast<std::size_t>(found.count));
  ASSERT_EQ(found.report.residuals.size(), static_cast<std::size_t>(found.count));
  EXPECT_LT((z.transpose() * z - Eigen::MatrixXd::Identity(found.count, found.count))
                .cwiseAbs()
                .maxCoeff(),
            1e-5);
  EXPECT_TRUE(std::is_sorted(found.values.begin(), found.values.end()));
  for (int k = 0; k < found.count; ++k) {
    std::vector<double> x(z.col(k).data(), z.col(k).data() + z.rows());
    const std::vector<double> ax = reference_matvec(problem.matrix, x);
    const Eigen::Map<const Eigen::VectorXd> product(ax.data(), z.rows());
    const double rho = z.col(k).dot(product);
    const double residual = (product - rho * z.col(k)).norm();
    EXPECT_LE(residual, tolerance) << "vector " << k;
    EXPECT_NEAR(found.report.residuals[k], residual, 2e-6) << "vector " << k;
    EXPECT_NEAR(found.values[k], 1 - rho, 1e-6) << "vector " << k;
    Eigen::Index peak = 0;
    z.col(k).cwiseAbs().maxCoeff(&peak);
    EXPECT_GT(z(peak, k), 0) << "vector " << k;
    for (std::size_t i = 0; i < found.rows; ++i) {
      if (problem.sqrt_degree[i] == 0) {
        EXPECT_EQ(z(static_cast<Eigen::Index>(i), k), 0);
      }
    }
  }
  EXPECT_EQ(found.values[0], 0);
}

DeviceEigenvectors solve(Context& context, const MatrixProblem& problem,
                         const EigenParameters& parameters, MatrixForm form) {
  NormalizedMatrix matrix = matrix_of(context, problem);
  return std::move(eigenvectors(context, matrix, {parameters, {}, form}).front());
}

MatrixProblem rounded(MatrixProblem problem) {
  problem.matrix = with_eigenvector(rounded_matrix(problem), problem.stencil, problem.sqrt_degree);
  return problem;
}

DeviceEigenvectors EigensolverTest::solved(const MatrixProblem& problem,
                                           const EigenParameters& parameters, bool compressed) {
  const MatrixForm form = compressed ? MatrixForm::kCompressed : MatrixForm::kDia;
  DeviceEigenvectors found = solve(context_, problem, parameters, form);
  EXPECT_TRUE(found.report.converged);
  expect_sound(compressed ? rounded(problem) : problem, found,
               (compressed ? 1.1 : 1.0) * parameters.tolerance);
  return found;
}

}  // namespace diacut::testing
