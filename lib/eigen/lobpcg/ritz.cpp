#include "eigen/lobpcg/ritz.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "diacut/errors.hpp"
#include "eigen/lobpcg/small_eigen.hpp"
#include "eigen/lobpcg/small_matrix.hpp"

namespace diacut {

namespace {

/// Directions of a Gram matrix of unit vectors with a smaller eigenvalue are left out: what makes a
/// unit vector of one multiplies the rounding errors of float vectors by its inverse root. Among
/// the vectors so far nothing is lost so; they begin nearly orthonormal.
constexpr double kDependent = 1e-6;
constexpr double kDependentCorrection = 1e-4;
/// What is left of a vector without the trivial one, or without the vectors so far, as a share of
/// its squared norm, below which it is rounding error.
constexpr double kNothing = 1e-5;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Columns that orthonormalize those of which `gram` is the Gram matrix: each scaled to norm 1
/// before, by the inverse root of `squares`, of which it may be a small remainder.
SmallMatrix whitening(const SmallMatrix& gram, const double* squares, double dependent) {
  const int size = gram.rows;
  std::vector<double> scale;
  for (int i = 0; i < size; ++i) {
    const double square = gram.row(i)[i];
    scale.push_back(square > kNothing * squares[i] ? 1 / std::sqrt(square) : 0);
  }
  SmallMatrix scaled(size, size);
  double sum_of_squares = 0;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      scaled.row(i)[j] = scale[at(i)] * gram.row(i)[j] * scale[at(j)];
      sum_of_squares += scaled.row(i)[j] * scaled.row(i)[j];
    }
  }
  // Cholesky is quick, and as good where no direction is to be left out: the largest eigenvalue is
  // at most the norm of the matrix, and the inverse of the least one that of the inverse.
  const double least = dependent * std::max(1.0, std::sqrt(sum_of_squares));
  SmallMatrix factor = scaled;
  if (cholesky(factor)) {
    SmallMatrix inverse = inverse_of_upper(factor);
    // As large as the inverse of `scaled`, which is the other product of the two.
    double squared_norm = 0;
    for (const double value : multiply_transposed(inverse, inverse).values) {
      squared_norm += value * value;
    }
    if (least * std::sqrt(squared_norm) < 1) {
      for (int i = 0; i < size; ++i) {
        for (int j = i; j < size; ++j) inverse.row(i)[j] *= scale[at(i)];
      }
      return inverse;
    }
  }
  const SmallEigenpairs pairs = largest_eigenpairs(std::move(scaled), size);
  const double limit = dependent * std::max(1.0, pairs.values[0]);
  const auto rank = std::count_if(pairs.values.begin(), pairs.values.end(),
                                  [&](double value) { return value > limit; });
  SmallMatrix result(size, static_cast<int>(rank));
  for (int k = 0; k < result.columns; ++k) {
    const double inverse = 1 / std::sqrt(pairs.values[at(k)]);
    for (int i = 0; i < size; ++i)
      result.row(i)[k] = scale[at(i)] * pairs.vectors.row(i)[k] * inverse;
  }
  return result;
}

/// Rows and columns from `row` and `column` on.
SmallMatrix block(const SmallMatrix& a, int row, int column, int rows, int columns) {
  SmallMatrix result(rows, columns);
  for (int i = 0; i < rows; ++i) {
    std::copy_n(a.row(row + i) + column, columns, result.row(i));
  }
  return result;
}

/// Columns that make an orthonormal basis of vectors with the Gram matrix `gram`: of the first
/// `first`, the vectors so far, then of what the corrections add to them. Taken all at once, a
/// correction that hardly leaves their space would cost some of that space.
SmallMatrix orthonormal_basis(const SmallMatrix& gram, const std::vector<double>& squares,
                              int first) {
  const int rest = gram.rows - first;
  const SmallMatrix so_far = whitening(block(gram, 0, 0, first, first), squares.data(), kDependent);
  const SmallMatrix shared = multiply_transposed(so_far, block(gram, 0, first, first, rest));
  SmallMatrix remainder = block(gram, first, first, rest, rest);
  const SmallMatrix inside = multiply_transposed(shared, shared);
  for (int i = 0; i < rest; ++i) {
    for (int j = 0; j < rest; ++j) remainder.row(i)[j] -= inside.row(i)[j];
  }
  const SmallMatrix corrections =
      whitening(remainder, squares.data() + first, kDependentCorrection);
  const SmallMatrix without = multiply(so_far, multiply(shared, corrections));
  SmallMatrix basis(gram.rows, so_far.columns + corrections.columns);
  for (int i = 0; i < first; ++i) {
    std::copy_n(so_far.row(i), so_far.columns, basis.row(i));
    std::transform(without.row(i), without.row(i) + without.columns, basis.row(i) + so_far.columns,
                   std::negate<>());
  }
  for (int i = 0; i < rest; ++i) {
    std::copy_n(corrections.row(i), corrections.columns, basis.row(first + i) + so_far.columns);
  }
  return basis;
}

}  // namespace

RitzStep solve_ritz(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& product, int columns,
                    const std::vector<bool>& skipped) {
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
  const int size = static_cast<int>(used.size());
  SmallMatrix g(size, size);
  SmallMatrix h(size, size);
  std::vector<double> squares;
  for (int i = 0; i < size; ++i) {
    const Eigen::Index row = used[at(i)];
    squares.push_back(gram(row, row));
    for (int j = 0; j <= i; ++j) {
      const Eigen::Index column = used[at(j)];
      const double trivial = along(row) * along(column);
      g.row(i)[j] = g.row(j)[i] = (gram(row, column) + gram(column, row)) / 2 - trivial;
      h.row(i)[j] = h.row(j)[i] = (product(row, column) + product(column, row)) / 2 - trivial;
    }
  }

  RitzStep step;
  step.values.assign(static_cast<std::size_t>(columns), 0);
  step.values[0] = 1;
  step.rotation.assign(static_cast<std::size_t>(side * columns), 0.0F);
  step.rotation[0] = static_cast<float>(1 / std::sqrt(gram(0, 0)));

  const SmallMatrix basis = orthonormal_basis(g, squares, static_cast<int>(first));
  if (basis.columns == 0) return step;
  step.found = std::min(basis.columns, columns - 1);
  const SmallEigenpairs pairs =
      largest_eigenpairs(multiply_transposed(basis, multiply(h, basis)), step.found);
  const SmallMatrix vectors = multiply(basis, pairs.vectors);
  std::copy(pairs.values.begin(), pairs.values.end(), step.values.begin() + 1);
  std::vector<double> trivial(static_cast<std::size_t>(step.found), 0.0);
  for (int i = 0; i < size; ++i) {
    const Eigen::Index row = used[at(i)];
    float* rotation = step.rotation.data() + row * columns + 1;
    for (int k = 0; k < step.found; ++k) {
      rotation[k] = static_cast<float>(vectors.row(i)[k]);
      trivial[at(k)] += along(row) * vectors.row(i)[k];
    }
  }
  for (int k = 0; k < step.found; ++k) {
    step.rotation[at(k + 1)] = static_cast<float>(-trivial[at(k)] / std::sqrt(gram(0, 0)));
  }
  return step;
}

}  // namespace diacut
