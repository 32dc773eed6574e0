#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <vector>

#include "answers/problems.hpp"
#include "eigen/device_eigenvectors.hpp"
#include "eigen/eigensolver.hpp"
#include "support.hpp"

namespace diacut::testing {

/// The vectors as columns, rows by count.
Eigen::MatrixXd host_vectors(const DeviceEigenvectors& found);

/// The largest sine of an angle between the spaces that two sets of orthonormal columns span.
double subspace_sine(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// The correlation of two sets of numbers.
template <class Number>
double correlation(const std::vector<Number>& a, const std::vector<Number>& b) {
  using Numbers = Eigen::Matrix<Number, Eigen::Dynamic, 1>;
  const auto centred = [](const std::vector<Number>& all) -> Eigen::VectorXd {
    const auto count = static_cast<Eigen::Index>(all.size());
    const Eigen::VectorXd values =
        Eigen::Map<const Numbers>(all.data(), count).template cast<double>();
    return values.array() - values.mean();
  };
  return centred(a).normalized().dot(centred(b).normalized());
}

/// Expects what every result of an eigensolver has to satisfy: orthonormal, ordered, signed vectors
/// whose residuals are as reported and at most `tolerance`.
void expect_sound(const MatrixProblem& problem, const DeviceEigenvectors& found, double tolerance);

/// The problem's eigenvectors by eigenvectors(), from a matrix in DIA form or one that is
/// compressed on the way.
DeviceEigenvectors solve(Context& context, const MatrixProblem& problem,
                         const EigenParameters& parameters, MatrixForm form = MatrixForm::kDia);

/// Tests of eigensolvers on the tests' device.
class EigensolverTest : public ::testing::Test {
 protected:
  /// The problem's eigenvectors, by the solver that is asked for; expects that they have converged
  /// to the tolerance and are sound. Compressed ones are those of the rounded problem.
  DeviceEigenvectors solved(const MatrixProblem& problem, const EigenParameters& parameters,
                            bool compressed = false);

  Context context_{test_device()};
};

/// The problem with its matrix rounded as compression rounds it.
MatrixProblem rounded(MatrixProblem problem);

}  // namespace diacut::testing
