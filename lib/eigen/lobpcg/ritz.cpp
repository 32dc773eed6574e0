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

/// Eigenvectors of a Gram matrix of unit vectors whose eigenvalues are smaller are left out of the
/// basis: scaling such a combination of the vectors to norm 1 multiplies the rounding errors of
/// float vectors by the inverse root of the eigenvalue. The columns of X begin nearly orthonormal,
/// so that among them nothing is lost by the smaller bound.
constexpr double kDependent = 1e-6;
constexpr double kDependentCorrection = 1e-4;
/// The share of a vector's squared norm outside of the trivial vector, or outside of the span of X,
/// below which the remainder is rounding error.
constexpr double kNothing = 1e-5;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The columns C for which V C is orthonormal, V being vectors with the Gram matrix `gram`. Vectors
/// are scaled to norm 1 first. Those whose squared norm is a small share of `squares`, the squared
/// norm before something was taken out of them, are left out.
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
  // Cholesky's factor is quicker than eigenvectors, and as good where no eigenvalue is too small:
  // the largest eigenvalue is at most the norm of the matrix, and the inverse of the least one is
  // at most the norm of the inverse.
  const double least = dependent * std::max(1.0, std::sqrt(sum_of_squares));
  SmallMatrix factor = scaled;
  if (cholesky(factor)) {
    SmallMatrix inverse = inverse_of_upper(factor);
    // The norm of U^-T U^-1 is the norm of the inverse U^-1 U^-T.
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

/// The `rows` x `columns` block of `a` that begins at (row, column).
SmallMatrix block(const SmallMatrix& a, int row, int column, int rows, int columns) {
  SmallMatrix result(rows, columns);
  for (int i = 0; i < rows; ++i) {
    std::copy_n(a.row(row + i) + column, columns, result.row(i));
  }
  return result;
}

/// The columns C for which S C is an orthonormal basis of the span of S, `gram` being S'S: first a
/// basis of the first `first` columns, those of X, then of what the others, corrections, add to it.
/// In one basis for all, a correction that hardly leaves the span of X would cost some of that
/// span.
SmallMatrix orthonormal_basis(const SmallMatrix& gram, const std::vector<double>& squares,
                              int first) {
  const int others = gram.rows - first;
  const SmallMatrix of_x = whitening(block(gram, 0, 0, first, first), squares.data(), kDependent);
  const SmallMatrix shared = multiply_transposed(of_x, block(gram, 0, first, first, others));
  SmallMatrix remainder = block(gram, first, first, others, others);
  const SmallMatrix inside = multiply_transposed(shared, shared);
  for (int i = 0; i < others; ++i) {
    for (int j = 0; j < others; ++j) remainder.row(i)[j] -= inside.row(i)[j];
  }
  const SmallMatrix corrections =
      whitening(remainder, squares.data() + first, kDependentCorrection);
  const SmallMatrix without = multiply(of_x, multiply(shared, corrections));
  SmallMatrix basis(gram.rows, of_x.columns + corrections.columns);
  for (int i = 0; i < first; ++i) {
    std::copy_n(of_x.row(i), of_x.columns, basis.row(i));
    std::transform(without.row(i), without.row(i) + without.columns, basis.row(i) + of_x.columns,
                   std::negate<>());
  }
  for (int i = 0; i < others; ++i) {
    std::copy_n(corrections.row(i), corrections.columns, basis.row(first + i) + of_x.columns);
  }
  return basis;
}

/// The projected problem: the columns of S that are used, their Gram matrix S'S and S'AS, both
/// without the trivial vector.
struct ProjectedProblem {
  std::vector<Eigen::Index> columns;  ///< Of S.
  int first = 0;                      ///< How many of them are columns of X.
  SmallMatrix gram;
  SmallMatrix product;
  std::vector<double> squares;  ///< Squared norms with the trivial vector.
};

/// `trivial`: the trivial component of each column of S.
ProjectedProblem projected_problem(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& product,
                                   const Eigen::VectorXd& trivial, int columns,
                                   const std::vector<bool>& skipped) {
  std::vector<Eigen::Index> used;
  std::size_t first = 0;
  for (Eigen::Index i = 1; i < gram.rows(); ++i) {
    if (!skipped.empty() && skipped[static_cast<std::size_t>(i)]) continue;
    if (gram(i, i) > 0) used.push_back(i);
    if (i < columns) first = used.size();
  }
  const int size = static_cast<int>(used.size());
  ProjectedProblem result{std::move(used),
                          static_cast<int>(first),
                          SmallMatrix(size, size),
                          SmallMatrix(size, size),
                          {}};
  SmallMatrix& g = result.gram;
  SmallMatrix& h = result.product;
  for (int i = 0; i < size; ++i) {
    const Eigen::Index row = result.columns[at(i)];
    result.squares.push_back(gram(row, row));
    for (int j = 0; j <= i; ++j) {
      const Eigen::Index column = result.columns[at(j)];
      const double both = trivial(row) * trivial(column);
      g.row(i)[j] = g.row(j)[i] = (gram(row, column) + gram(column, row)) / 2 - both;
      h.row(i)[j] = h.row(j)[i] = (product(row, column) + product(column, row)) / 2 - both;
    }
  }
  return result;
}

}  // namespace

RitzStep solve_ritz(const Eigen::MatrixXd& gram, const Eigen::MatrixXd& product, int columns,
                    const std::vector<bool>& skipped) {
  if (!gram.allFinite() || !product.allFinite()) {
    throw NumericalError(
        "the affinity matrix is not finite: a product with it gave NaN or infinity");
  }
  const Eigen::VectorXd trivial = gram.col(0) / std::sqrt(gram(0, 0));
  const ProjectedProblem problem = projected_problem(gram, product, trivial, columns, skipped);

  RitzStep step;
  step.values.assign(static_cast<std::size_t>(columns), 0);
  step.values[0] = 1;
  step.rotation.assign(static_cast<std::size_t>(gram.rows() * columns), 0.0F);
  step.rotation[0] = static_cast<float>(1 / std::sqrt(gram(0, 0)));

  // The Ritz pairs are the eigenpairs of C'(S'AS)C, S C being an orthonormal basis.
  const SmallMatrix basis = orthonormal_basis(problem.gram, problem.squares, problem.first);
  if (basis.columns == 0) return step;
  step.found = std::min(basis.columns, columns - 1);
  const SmallEigenpairs pairs =
      largest_eigenpairs(multiply_transposed(basis, multiply(problem.product, basis)), step.found);
  const SmallMatrix vectors = multiply(basis, pairs.vectors);
  std::copy(pairs.values.begin(), pairs.values.end(), step.values.begin() + 1);
  std::vector<double> along(static_cast<std::size_t>(step.found), 0.0);  // the trivial vector
  for (int i = 0; i < vectors.rows; ++i) {
    const Eigen::Index row = problem.columns[at(i)];
    float* rotation = step.rotation.data() + row * columns + 1;
    for (int k = 0; k < step.found; ++k) {
      rotation[k] = static_cast<float>(vectors.row(i)[k]);
      along[at(k)] += trivial(row) * vectors.row(i)[k];
    }
  }
  for (int k = 0; k < step.found; ++k) {
    step.rotation[at(k + 1)] = static_cast<float>(-along[at(k)] / std::sqrt(gram(0, 0)));
  }
  return step;
}

}  // namespace diacut
