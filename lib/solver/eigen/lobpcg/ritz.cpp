#include "eigen/lobpcg/ritz.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "diacut/errors.hpp"
#include "eigen/dense/symmetric_eigenpairs.hpp"

namespace diacut {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Eigenvectors of a Gram matrix of unit vectors whose eigenvalues are smaller are left out of the
/// basis: scaling such a combination of the vectors to norm 1 multiplies the rounding errors of
/// float vectors by the inverse root of the eigenvalue. The columns of X begin nearly orthonormal,
/// so that among them nothing is lost by the smaller bound.
constexpr double kDependent = 1e-6;
constexpr double kDependentCorrection = 1e-4;
/// The share of a vector's squared norm outside of the trivial vector, or outside of the span of X,
/// below which the remainder is rounding error.
constexpr double kNothing = 1e-5;

/// The columns C for which V C is orthonormal, V being vectors with the Gram matrix `gram`. Vectors
/// are scaled to norm 1 first. Those whose squared norm is a small share of `squares`, the squared
/// norm before something was taken out of them, are left out.
MatrixXd whitening(const MatrixXd& gram, const VectorXd& squares, double dependent) {
  const Index size = gram.rows();
  const auto square = gram.diagonal().array();
  const VectorXd scale = (square > kNothing * squares.array()).select(square.rsqrt(), 0.0);
  const MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  // Cholesky's factor is quicker than eigenvectors, and as good where no eigenvalue is too small:
  // the largest eigenvalue is at most the norm of the matrix, and the inverse of the least one is
  // at most the sum of all inverses, the squared norm of U^-1.
  const double least = dependent * std::max(1.0, scaled.norm());
  const Eigen::LLT<MatrixXd> factor(scaled);
  if (factor.info() == Eigen::Success) {
    const MatrixXd inverse = factor.matrixU().solve(MatrixXd::Identity(size, size));
    if (least * inverse.squaredNorm() < 1) return scale.asDiagonal() * inverse;
  }
  const auto [values, vectors, converged] = symmetric_eigenpairs(scaled);
  const Index rank = (values.array() > dependent * std::max(1.0, values(size - 1))).count();
  return scale.asDiagonal() * vectors.rightCols(rank) *
         values.tail(rank).cwiseSqrt().cwiseInverse().asDiagonal();
}

/// The columns C for which S C is an orthonormal basis of the span of S, `gram` being S'S: first a
/// basis of the first `first` columns, those of X, then of what the others, corrections, add to it.
/// In one basis for all, a correction that hardly leaves the span of X would cost some of that
/// span.
MatrixXd orthonormal_basis(const MatrixXd& gram, const VectorXd& squares, Index first) {
  const Index others = gram.rows() - first;
  const MatrixXd of_x =
      whitening(gram.topLeftCorner(first, first), squares.head(first), kDependent);
  const MatrixXd shared = of_x.transpose() * gram.topRightCorner(first, others);
  const MatrixXd corrections =
      whitening(gram.bottomRightCorner(others, others) - shared.transpose() * shared,
                squares.tail(others), kDependentCorrection);
  MatrixXd basis = MatrixXd::Zero(gram.rows(), of_x.cols() + corrections.cols());
  basis.topLeftCorner(first, of_x.cols()) = of_x;
  basis.topRightCorner(first, corrections.cols()) = -of_x * (shared * corrections);
  basis.bottomRightCorner(others, corrections.cols()) = corrections;
  return basis;
}

}  // namespace

RitzStep solve_ritz(const MatrixXd& gram, const MatrixXd& product, int columns,
                    const std::vector<bool>& skipped) {
  if (!gram.allFinite() || !product.allFinite()) {
    throw NumericalError(
        "the affinity matrix is not finite: a product with it gave NaN or infinity");
  }
  // The columns of S that are used; the first ones are of X.
  std::vector<Index> used;
  Index first = 0;
  for (Index i = 1; i < gram.rows(); ++i) {
    if (!skipped.empty() && skipped[static_cast<std::size_t>(i)]) continue;
    if (gram(i, i) > 0) used.push_back(i);
    if (i < columns) first = std::ssize(used);
  }
  const double norm = std::sqrt(gram(0, 0));
  const VectorXd trivial = gram.col(0)(used) / norm;
  const auto without_trivial = [&](const MatrixXd& of) -> MatrixXd {
    return of(used, used) - trivial * trivial.transpose();
  };

  RitzStep step;
  step.values.assign(static_cast<std::size_t>(columns), 0);
  step.values[0] = 1;
  step.rotation.assign(static_cast<std::size_t>(gram.rows() * columns), 0.0F);
  Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> rotation(
      step.rotation.data(), gram.rows(), columns);
  rotation(0, 0) = static_cast<float>(1 / norm);

  // The Ritz pairs are the eigenpairs of C'(S'AS)C, S C being an orthonormal basis.
  const MatrixXd basis = orthonormal_basis(without_trivial(gram), gram.diagonal()(used), first);
  if (basis.cols() == 0) return step;
  step.found = static_cast<int>(std::min<Index>(basis.cols(), columns - 1));
  const MatrixXd half = without_trivial(product) * basis;
  MatrixXd projected(basis.cols(), basis.cols());  // Its upper triangle is not read.
  projected.triangularView<Eigen::Lower>() = basis.transpose() * half;
  const SymmetricEigenpairs pairs = symmetric_eigenpairs(projected);
  if (!pairs.converged) {
    throw NumericalError("the eigenvalues of a small matrix did not converge");
  }
  const MatrixXd vectors = basis * pairs.vectors.rightCols(step.found).rowwise().reverse();
  for (int k = 0; k < step.found; ++k) {
    step.values[static_cast<std::size_t>(k + 1)] = pairs.values(basis.cols() - 1 - k);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    rotation.row(used[i]).segment(1, step.found) = vectors.row(static_cast<Index>(i)).cast<float>();
  }
  rotation.row(0).segment(1, step.found) = (-trivial.transpose() * vectors / norm).cast<float>();
  return step;
}

void ProjectedLaplacian::select(std::span<const std::int32_t> directions) {
  std::vector<Eigen::Index> from(static_cast<std::size_t>(columns_));
  std::iota(from.begin(), from.end(), 0);
  for (const std::int32_t direction : directions) {
    from.push_back(direction < 0 ? -1 : columns_ + direction);
  }
  const auto side = static_cast<Eigen::Index>(from.size());
  matrix_ =
      Eigen::MatrixXd::NullaryExpr(side, side, [&, old = matrix_](Eigen::Index i, Eigen::Index j) {
        const Eigen::Index row = from[static_cast<std::size_t>(i)];
        const Eigen::Index column = from[static_cast<std::size_t>(j)];
        return row < 0 || column < 0 ? 0 : old(row, column);
      });
}

void ProjectedLaplacian::complete(Eigen::MatrixXd& s_ls) const {
  const Eigen::Index directions = matrix_.rows() - columns_;
  const Eigen::Index p = columns_ + directions;
  s_ls.topLeftCorner(columns_, columns_) = matrix_.topLeftCorner(columns_, columns_);
  if (directions == 0) return;
  s_ls.block(0, p, columns_, directions) = matrix_.topRightCorner(columns_, directions);
  s_ls.block(p, 0, directions, columns_) = matrix_.bottomLeftCorner(directions, columns_);
  s_ls.block(p, p, directions, directions) = matrix_.bottomRightCorner(directions, directions);
}

void ProjectedLaplacian::rotate(const Eigen::MatrixXd& s_ls, const RitzStep& step,
                                std::span<const std::int32_t> selected) {
  const Eigen::Index side = s_ls.rows();
  const auto directions = static_cast<Eigen::Index>(selected.size());
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> q(
      step.rotation.data(), side, columns_);
  Eigen::MatrixXd both = Eigen::MatrixXd::Zero(side, columns_ + directions);  // [Q Q_P]
  both.leftCols(columns_) = q.cast<double>();
  for (Eigen::Index k = 0; k < directions; ++k) {
    both.col(columns_ + k).tail(side - columns_) =
        both.col(selected[static_cast<std::size_t>(k)]).tail(side - columns_);
  }
  matrix_ = both.transpose() * s_ls * both;
}

Eigen::MatrixXd gram_of_selected(const std::vector<double>& whole, int side, int columns, int width,
                                 std::size_t selected) {
  std::vector<Eigen::Index> from(static_cast<std::size_t>(columns));
  std::iota(from.begin(), from.end(), 0);
  for (Eigen::Index block = columns; block < side; block += width) {
    for (std::size_t i = 0; i < selected; ++i) {
      from.push_back(block + static_cast<Eigen::Index>(i));
    }
  }
  return Eigen::Map<const Eigen::MatrixXd>(whole.data(), side, side)(from, from);
}

}  // namespace diacut
