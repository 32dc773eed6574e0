#include "eigen/multilevel/coarsest_level.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/parallel.hpp"
#include "eigen/dense/dense.hpp"
#include "eigen/dense/symmetric_eigenpairs.hpp"

namespace diacut {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXf;

/// Eigenvalues of I - A below this are 0: other pieces of the image than the first.
constexpr double kZero = 1e-6;
/// And below this may be, as far as those of a float matrix's inverse tell.
constexpr double kInverseLooksZero = 1e-5;
/// Vectors beyond those wanted that subspace iteration carries along, and its iterations.
constexpr Index kMoreColumns = 8;
constexpr int kSubspaceIterations = 3;
/// Rows or columns that a thread computes at once: which ones does not depend on the threads.
constexpr Index kPanel = 16;

/// Calls work(first, count) for parts of `size` rows or columns.
template <class Work>
void for_panels(Index size, const Work& work) {
  parallel_for(static_cast<int>((size + kPanel - 1) / kPanel),
               [&](int panel) { work(panel * kPanel, std::min(kPanel, size - panel * kPanel)); });
}

/// a b, `a` being symmetric.
MatrixXf product(const MatrixXf& a, const MatrixXf& b) {
  MatrixXf result(a.rows(), b.cols());
  for_panels(a.rows(), [&](Index first, Index count) {
    result.middleRows(first, count).noalias() = a.middleCols(first, count).transpose() * b;
  });
  return result;
}

/// The upper triangle that orthonormalizes `basis` from the right, by Cholesky's factor of the
/// Gram matrix. Nothing where columns look dependent.
std::optional<MatrixXd> orthonormalizer(const MatrixXd& basis) {
  MatrixXd gram(basis.cols(), basis.cols());
  gram.triangularView<Eigen::Lower>() = basis.transpose() * basis;
  const Eigen::LLT<MatrixXd> factor(gram);
  if (factor.info() != Eigen::Success) return std::nullopt;
  return factor.matrixU().solve(MatrixXd::Identity(basis.cols(), basis.cols()));
}

/// The inverse times differences of `columns` + 1 runs of consecutive elements: the trivial vector
/// on one, less the same on the next, scaled so that it is orthogonal to the trivial vector. Slow
/// changes are among what they span.
MatrixXf image_of_runs(const MatrixXf& inverse, const VectorXf& trivial, Index columns) {
  const Index size = trivial.size();
  const auto run_of = [&](Index i) { return i * (columns + 1) / size; };
  VectorXf squares = VectorXf::Zero(columns + 1);
  for (Index i = 0; i < size; ++i) squares(run_of(i)) += trivial(i) * trivial(i);
  MatrixXf result = MatrixXf::Zero(size, columns);
  for (Index i = 0; i < size; ++i) {
    const Index run = run_of(i);
    const float value = trivial(i) / squares(run);
    if (run < columns) result.col(run) += value * inverse.col(i);
    if (run > 0) result.col(run - 1) -= value * inverse.col(i);
  }
  return result;
}

/// The eigenpairs of the elements with data, without the trivial vector.
struct DenseSolution {
  Eigen::VectorXd values;  ///< Of I - A, ascending.
  MatrixXf vectors;
  MatrixXf inverse;
};

/// `count` eigenpairs to the least eigenvalues of a matrix, but for the trivial one, from its
/// inverse, by subspace iteration (Golub and Van Loan, Matrix Computations, 8.2.4). Nothing where
/// an eigenvalue may be 0.
std::optional<DenseSolution> least_eigenpairs(MatrixXf inverse, const VectorXf& trivial,
                                              Index count) {
  const Index columns = std::min(trivial.size() - 1, count + kMoreColumns);
  MatrixXf basis;
  MatrixXf image = image_of_runs(inverse, trivial, columns);
  for (int k = 1; k < kSubspaceIterations; ++k) {
    const std::optional<MatrixXd> factor = orthonormalizer(image.cast<double>());
    if (!factor) return std::nullopt;
    basis = image * factor->cast<float>();
    image = product(inverse, basis);
  }
  // The matrix times `image` is `basis`: no further product is wanted for the Ritz problem.
  const MatrixXd span = image.cast<double>();
  const std::optional<MatrixXd> factor = orthonormalizer(span);
  if (!factor) return std::nullopt;
  const MatrixXd projected =
      factor->transpose() * (span.transpose() * basis.cast<double>()) * *factor;
  const SymmetricEigenpairs pairs = symmetric_eigenpairs((projected + projected.transpose()) / 2);
  if (!(pairs.values(0) > kInverseLooksZero)) return std::nullopt;
  return DenseSolution{pairs.values.head(count),
                       image * (*factor * pairs.vectors.leftCols(count)).cast<float>(),
                       std::move(inverse)};
}

/// Much quicker than all eigenvectors. Nothing where an eigenvalue of I - A may be 0.
std::optional<DenseSolution> by_inverse(const DenseProblem& problem, Index count) {
  const Index size = problem.a.rows();
  const VectorXf trivial = problem.trivial.cast<float>();
  // Positive definite but for further pieces of the image.
  const Eigen::LLT<MatrixXf> factor(MatrixXf::Identity(size, size) - problem.a.cast<float>());
  if (factor.info() != Eigen::Success) return std::nullopt;
  MatrixXf inverse = MatrixXf::Identity(size, size);
  for_panels(size, [&](Index first, Index width) {
    // The lower triangle alone: nothing above a column's one enters what is below.
    auto columns = inverse.block(first, first, size - first, width);
    const auto corner = factor.matrixLLT().bottomRightCorner(size - first, size - first);
    corner.triangularView<Eigen::Lower>().solveInPlace(columns);
    corner.transpose().triangularView<Eigen::Upper>().solveInPlace(columns);
  });
  inverse.triangularView<Eigen::StrictlyUpper>() = inverse.transpose();
  // No entry is larger than the largest on the diagonal, nor is that than the largest eigenvalue.
  if (!((inverse.diagonal().array() * kInverseLooksZero < 1).all())) return std::nullopt;
  std::optional<DenseSolution> solution = least_eigenpairs(std::move(inverse), trivial, count);
  if (!solution) return std::nullopt;
  MatrixXf& vectors = solution->vectors;
  vectors -= trivial * (trivial.transpose() * vectors);
  solution->inverse -= (trivial / kTrivialMoved) * trivial.transpose();
  return solution;
}

std::optional<DenseSolution> by_all_eigenvectors(const DenseProblem& problem, Index count) {
  const SymmetricEigenpairs pairs = symmetric_eigenpairs(problem.a);
  if (!pairs.converged) return std::nullopt;
  const MatrixXf vectors = pairs.vectors.cast<float>();
  // The least eigenvalue of A is the one to which the trivial one was moved.
  const Eigen::ArrayXd values = 1 - pairs.values.array();
  VectorXf factors = (values > kZero).select(values.inverse(), 0).cast<float>();
  factors(0) = 0;
  return DenseSolution{values.tail(count).reverse(), vectors.rightCols(count).rowwise().reverse(),
                       vectors * factors.asDiagonal() * vectors.transpose()};
}

/// Added to the eigenvalues of I - A, which are at least about 1e-6 where there are seeds.
constexpr double kShift = 1e-7;

}  // namespace

std::optional<CoarsestLevel> solve_coarsest_level(const DiaShape& shape, const float* values,
                                                  std::span<const float> sqrt_degree, int columns) {
  HostDiaMatrix matrix{shape, {values, values + shape.stored() - shape.pitch + shape.rows}};
  matrix.values.resize(shape.stored());
  const DenseProblem problem = dense_problem(matrix, {sqrt_degree.begin(), sqrt_degree.end()});
  const Index size = problem.a.rows();
  if (size < columns || !problem.a.allFinite()) return std::nullopt;
  std::optional<DenseSolution> solution = by_inverse(problem, columns - 1);
  if (!solution) solution = by_all_eigenvectors(problem, columns - 1);
  if (!solution) return std::nullopt;
  const auto wide = static_cast<std::size_t>(columns);
  CoarsestLevel last{
      std::vector<float>(shape.rows * wide), {1}, std::vector<float>(shape.rows * shape.rows)};
  for (const double lambda : solution->values) last.values.push_back(1 - lambda);
  for (Index i = 0; i < size; ++i) {
    const auto element = static_cast<std::size_t>(problem.element[static_cast<std::size_t>(i)]);
    float* vectors = last.vectors.data() + element * wide;
    vectors[0] = static_cast<float>(problem.trivial(i));
    for (Index k = 1; k < columns; ++k) vectors[k] = solution->vectors(i, k - 1);
    // A column, as it is symmetric.
    const float* column = solution->inverse.col(i).data();
    float* inverse = last.inverse.data() + element * shape.rows;
    for (const std::int64_t j : problem.element) inverse[j] = *column++;
  }
  return last;
}

std::optional<std::vector<float>> definite_inverse(const DiaShape& shape, const float* values,
                                                   std::span<const float> sqrt_degree) {
  const auto rows = static_cast<Eigen::Index>(shape.rows);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(rows, rows) * (1 + kShift);
  for (std::size_t d = 0; d < shape.diagonals(); ++d) {
    const std::int64_t offset = shape.offsets[d];
    const float* diagonal = values + d * shape.pitch;
    for (Eigen::Index row = 0; row < rows; ++row) {
      const Eigen::Index column = row + offset;
      if (column < 0 || column >= rows) continue;
      if (sqrt_degree[static_cast<std::size_t>(row)] > 0 &&
          sqrt_degree[static_cast<std::size_t>(column)] > 0) {
        matrix(row, column) -= diagonal[row];
      }
    }
  }
  if (!matrix.allFinite()) return std::nullopt;
  const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
  if (factor.info() != Eigen::Success) return std::nullopt;
  const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(rows, rows));
  std::vector<float> result(shape.rows * shape.rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < rows; ++j) {
      if (sqrt_degree[static_cast<std::size_t>(i)] > 0 &&
          sqrt_degree[static_cast<std::size_t>(j)] > 0) {
        result[static_cast<std::size_t>(i * rows + j)] = static_cast<float>(inverse(i, j));
      }
    }
  }
  return result;
}

}  // namespace diacut
