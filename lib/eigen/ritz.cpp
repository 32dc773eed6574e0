#include "eigen/ritz.hpp"

#include <algorithm>
#include <cmath>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// Directions of a Gram matrix of unit vectors with a smaller eigenvalue are left out: what makes a
/// unit vector of one multiplies the rounding errors of float vectors by its inverse root. Among
/// the vectors so far nothing is lost so; they begin nearly orthonormal.
constexpr double kDependent = 1e-6;
constexpr double kDependentCorrection = 1e-4;
/// Cholesky's pivots, the squared distances of the unit vectors from those before them, above which
/// no such direction is looked for.
constexpr double kIndependent = 0.05;
/// What is left of a vector without the trivial one, or without the vectors so far, as a share of
/// its squared norm, below which it is rounding error.
constexpr double kNothing = 1e-5;

/// Columns that orthonormalise those of which `gram` is the Gram matrix: each scaled to norm 1
/// before, by the inverse root of `squares`, of which it may be a small remainder.
Eigen::MatrixXd whitening(const Eigen::MatrixXd& gram, const Eigen::VectorXd& squares,
                          double dependent) {
  const Eigen::Index size = gram.rows();
  Eigen::VectorXd scale(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    scale(i) = gram(i, i) > kNothing * squares(i) ? 1 / std::sqrt(gram(i, i)) : 0;
  }
  if (size == 0) return Eigen::MatrixXd(0, 0);
  const Eigen::MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  // Cholesky is quick, and as good where no column depends on others.
  const Eigen::LLT<Eigen::MatrixXd> cholesky(scaled);
  if (cholesky.info() == Eigen::Success &&
      cholesky.matrixLLT().diagonal().cwiseAbs2().minCoeff() > kIndependent) {
    return scale.asDiagonal() *
           Eigen::MatrixXd(cholesky.matrixU().solve(Eigen::MatrixXd::Identity(size, size)));
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scaled);
  const double least = dependent * std::max(1.0, solver.eigenvalues()(size - 1));
  const Eigen::Index rank = (solver.eigenvalues().array() > least).count();
  return scale.asDiagonal() *
         (solver.eigenvectors().rightCols(rank) *
          solver.eigenvalues().tail(rank).cwiseSqrt().cwiseInverse().asDiagonal());
}

}  // namespace

RitzStep solve_ritz(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& product, int columns,
                    const std::vector<bool>& skipped, double least_wanted) {
  if (!gram.allFinite() || !product.allFinite()) {
    throw NumericalError(
        "the affinity matrix is not finite: a product with it gave NaN or infinity");
  }
  const Eigen::Index side = gram.rows();
  const Eigen::VectorXd along = gram.col(0) / std::sqrt(gram(0, 0));  // on the trivial vector
  std::vector<Eigen::Index> used;
  Eigen::Index first = 0;  // those of `used` that are vectors so far, not corrections
  for (Eigen::Index i = 1; i < side; ++i) {
    if (!skipped.empty() && skipped[static_cast<std::size_t>(i)]) continue;
    if (gram(i, i) > 0) used.push_back(i);
    if (i < columns) first = static_cast<Eigen::Index>(used.size());
  }
  const auto size = static_cast<Eigen::Index>(used.size());
  Eigen::MatrixXd g(size, size);
  Eigen::MatrixXd h(size, size);
  Eigen::VectorXd squares(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    squares(i) = gram(used[i], used[i]);
    for (Eigen::Index j = 0; j < size; ++j) {
      const double trivial = along(used[i]) * along(used[j]);
      g(i, j) = gram(used[i], used[j]) - trivial;
      h(i, j) = product(used[i], used[j]) - trivial;
    }
  }

  RitzStep step;
  step.values.assign(static_cast<std::size_t>(columns), 0);
  step.values[0] = 1;
  step.rotation.assign(static_cast<std::size_t>(side * columns), 0.0F);
  step.rotation[0] = static_cast<float>(1 / std::sqrt(gram(0, 0)));

  // An orthonormal basis: the vectors so far, then what the corrections add to them. Taken all at
  // once, a correction that hardly leaves their space would cost some of that space.
  const Eigen::Index rest = size - first;
  const Eigen::MatrixXd vectors_so_far =
      whitening(g.topLeftCorner(first, first), squares.head(first), kDependent);
  const Eigen::MatrixXd shared = vectors_so_far.transpose() * g.topRightCorner(first, rest);
  const Eigen::MatrixXd remainder = g.bottomRightCorner(rest, rest) - shared.transpose() * shared;
  for (Eigen::Index i = 0; i < rest; ++i) {
    step.least_new = std::min(step.least_new, remainder(i, i) / squares(first + i));
  }
  if (step.least_new < least_wanted) {
    step.taken = false;
    return step;
  }
  const Eigen::MatrixXd corrections =
      whitening(remainder, squares.tail(rest), kDependentCorrection);
  const Eigen::Index rank = vectors_so_far.cols() + corrections.cols();
  if (rank == 0) return step;
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(size, rank);
  basis.topLeftCorner(first, vectors_so_far.cols()) = vectors_so_far;
  basis.topRightCorner(first, corrections.cols()) = -vectors_so_far * (shared * corrections);
  basis.bottomRightCorner(rest, corrections.cols()) = corrections;
  const Eigen::MatrixXd reduced = basis.transpose() * h * basis;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz((reduced + reduced.transpose()) / 2);

  step.found = static_cast<int>(std::min<Eigen::Index>(rank, columns - 1));
  const Eigen::MatrixXd vectors =
      basis * ritz.eigenvectors().rightCols(step.found).rowwise().reverse();
  for (int k = 0; k < step.found; ++k) {
    step.values[static_cast<std::size_t>(k) + 1] = ritz.eigenvalues()(rank - 1 - k);
    double trivial = 0;
    const auto at = [&](Eigen::Index row) {
      return static_cast<std::size_t>(row * columns + k + 1);
    };
    for (Eigen::Index i = 0; i < size; ++i) {
      step.rotation[at(used[i])] = static_cast<float>(vectors(i, k));
      trivial += along(used[i]) * vectors(i, k);
    }
    step.rotation[at(0)] = static_cast<float>(-trivial / std::sqrt(gram(0, 0)));
  }
  return step;
}

}  // namespace diacut
