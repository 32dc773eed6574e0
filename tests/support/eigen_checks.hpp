#pragma once

#include <Eigen/Dense>

#include "eigen/device_eigenvectors.hpp"
#include "eigen/eigensolver.hpp"
#include "eigen_problem.hpp"

namespace diacut::testing {

/// The vectors as columns, rows by count.
Eigen::MatrixXd host_vectors(const DeviceEigenvectors& found);

/// The largest sine of an angle between the spaces that two sets of orthonormal columns span.
double subspace_sine(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Expects what every result of an eigensolver has to satisfy: orthonormal, ordered, signed vectors
/// whose residuals are as reported and at most `tolerance`.
void expect_sound(const EigenProblem& problem, const DeviceEigenvectors& found, double tolerance);

/// The problem's eigenvectors by eigenvectors(), from a matrix in DIA form.
DeviceEigenvectors solve(Context& context, const EigenProblem& problem,
                         const EigenParameters& parameters);
/// The problem's eigenvectors by eigenvectors(), from a matrix that is compressed on the way.
DeviceEigenvectors solve_compressed(Context& context, const EigenProblem& problem,
                                    const EigenParameters& parameters);

/// The problem with its matrix rounded as compression rounds it.
EigenProblem rounded(EigenProblem problem);

}  // namespace diacut::testing
