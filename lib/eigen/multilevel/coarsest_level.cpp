#include "eigen/multilevel/coarsest_level.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "eigen/dense/dense.hpp"
#include "eigen/lobpcg/small_eigen.hpp"
#include "eigen/lobpcg/small_matrix.hpp"

namespace diacut {

namespace {

/// Eigenvalues of I - A below this are 0: other pieces of the image than the first.
constexpr double kZero = 1e-6;
/// And below this may be, as far as those of a float matrix's inverse tell, and float eigenvalues:
/// some eps and some n eps times the largest.
constexpr double kInverseLooksZero = 1e-5;
constexpr double kLooksZero = 1e-4;
/// Put in place of the trivial eigenvalue of I - A, 0: the others are at most 2.
constexpr float kTrivial = 3;
/// Vectors beyond those wanted that subspace iteration carries along, and its iterations.
constexpr int kMoreColumns = 8;
constexpr int kSubspaceIterations = 3;

constexpr int kLanes = FloatMatrix::kLanes;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The elements with data, and the trivial eigenvector there, of norm 1.
struct Unknowns {
  std::vector<int> element;
  std::vector<int> of_element;  ///< -1 where there is none.
  std::vector<float> trivial;

  int count() const { return static_cast<int>(element.size()); }
};

Unknowns unknowns_of(std::span<const float> sqrt_degree) {
  Unknowns result;
  result.of_element.assign(sqrt_degree.size(), -1);
  double sum = 0;
  for (std::size_t i = 0; i < sqrt_degree.size(); ++i) {
    const float value = sqrt_degree[i];
    if (!(value > 0)) continue;
    result.of_element[i] = result.count();
    result.element.push_back(static_cast<int>(i));
    result.trivial.push_back(value);
    sum += static_cast<double>(value) * value;
  }
  const auto scale = static_cast<float>(1 / std::sqrt(sum));
  for (float& value : result.trivial) value *= scale;
  return result;
}

/// The upper triangle of I - A + kTrivial trivial trivial', positive definite but for further
/// pieces of the image, and of the identity up to a multiple of kLanes rows.
FloatMatrix shifted_laplacian(const DiaShape& shape, const float* values,
                              const Unknowns& unknowns) {
  const int size = unknowns.count();
  const int padded = (size + kLanes - 1) / kLanes * kLanes;
  FloatMatrix result(padded, padded);
  for (int i = 0; i < size; ++i) {
    const float factor = kTrivial * unknowns.trivial[at(i)];
    for (int j = i; j < size; ++j) result.row(i)[j] = factor * unknowns.trivial[at(j)];
  }
  for (int i = 0; i < padded; ++i) result.row(i)[i] += 1;
  const auto rows = static_cast<std::int64_t>(shape.rows);
  for (std::size_t d = 0; d < shape.diagonals(); ++d) {
    const std::int64_t offset = shape.offsets[d];
    if (offset < 0) continue;
    const float* diagonal = values + d * shape.pitch;
    for (std::int64_t row = 0; row + offset < rows; ++row) {
      const int i = unknowns.of_element[static_cast<std::size_t>(row)];
      const int j = unknowns.of_element[static_cast<std::size_t>(row + offset)];
      if (i >= 0 && j >= 0) result.row(i)[j] -= diagonal[row];
    }
  }
  return result;
}

FloatMatrix multiply(const FloatMatrix& a, const FloatMatrix& b) {
  FloatMatrix result(a.rows, b.columns);
  add_combinations(a.row(0), a.stride, 1, b.row(0), b.stride, b.rows, result.row(0), result.stride,
                   a.rows, b.stride);
  return result;
}

template <typename To, typename From>
PaddedMatrix<To> cast(const PaddedMatrix<From>& from) {
  PaddedMatrix<To> result(from.rows, from.columns);
  for (int i = 0; i < from.rows; ++i) {
    std::transform(from.row(i), from.row(i) + from.columns, result.row(i),
                   [](From value) { return static_cast<To>(value); });
  }
  return result;
}

/// The upper triangle that orthonormalizes `basis` from the right, by Cholesky's factor of the
/// Gram matrix. Nothing where columns look dependent.
std::optional<SmallMatrix> orthonormalizer(const SmallMatrix& basis) {
  SmallMatrix gram = multiply_transposed(basis, basis);
  if (!cholesky(gram)) return std::nullopt;
  return inverse_of_upper(gram);
}

/// From `columns` + 1 runs of consecutive elements: the trivial vector on one, less the same on
/// the next, scaled so that it is orthogonal to the trivial vector. Slow changes are among what
/// they span.
FloatMatrix differences_of_runs(const std::vector<float>& trivial, int rows, int columns) {
  const int size = static_cast<int>(trivial.size());
  const auto run_of = [&](int i) { return i * (columns + 1) / size; };
  std::vector<float> squares(at(columns + 1), 0.0F);
  for (int i = 0; i < size; ++i) squares[at(run_of(i))] += trivial[at(i)] * trivial[at(i)];
  FloatMatrix result(rows, columns);
  for (int i = 0; i < size; ++i) {
    const int run = run_of(i);
    const float value = trivial[at(i)] / squares[at(run)];
    if (run < columns) result.row(i)[run] = value;
    if (run > 0) result.row(i)[run - 1] = -value;
  }
  return result;
}

struct LeastEigenpairs {
  std::vector<double> values;
  FloatMatrix vectors;
};

/// `count` eigenpairs to the least eigenvalues of a matrix, but for the trivial one, from its
/// inverse, by subspace iteration (Golub and Van Loan, Matrix Computations, 8.2.4). Nothing where
/// an eigenvalue may be 0.
std::optional<LeastEigenpairs> least_eigenpairs(const FloatMatrix& inverse,
                                                const std::vector<float>& trivial, int count) {
  const int columns = std::min(static_cast<int>(trivial.size()) - 1, count + kMoreColumns);
  FloatMatrix basis = differences_of_runs(trivial, inverse.rows, columns);
  FloatMatrix image = multiply(inverse, basis);
  for (int k = 1; k < kSubspaceIterations; ++k) {
    const std::optional<SmallMatrix> factor = orthonormalizer(cast<double>(image));
    if (!factor) return std::nullopt;
    basis = multiply(image, cast<float>(*factor));
    image = multiply(inverse, basis);
  }
  // The matrix times `image` is `basis`: no further product is wanted for the Ritz problem.
  const SmallMatrix span = cast<double>(image);
  const std::optional<SmallMatrix> factor = orthonormalizer(span);
  if (!factor) return std::nullopt;
  SmallMatrix projected = multiply_transposed(
      *factor, multiply(multiply_transposed(span, cast<double>(basis)), *factor));
  for (int i = 0; i < columns; ++i) {
    for (int j = 0; j <= i; ++j) {
      projected.row(i)[j] = projected.row(j)[i] = -(projected.row(i)[j] + projected.row(j)[i]) / 2;
    }
  }
  SmallEigenpairs pairs = largest_eigenpairs(std::move(projected), count);
  if (!(-pairs.values[0] > kInverseLooksZero)) return std::nullopt;
  for (double& value : pairs.values) value = -value;
  return LeastEigenpairs{std::move(pairs.values),
                         multiply(image, cast<float>(multiply(*factor, pairs.vectors)))};
}

/// Of the unknowns, without the trivial vector.
struct DenseSolution {
  std::vector<double> values;  ///< Of I - A.
  FloatMatrix vectors;
  FloatMatrix inverse;
};

/// Much quicker than all eigenvectors. Nothing where an eigenvalue of I - A may be 0.
std::optional<DenseSolution> by_inverse(FloatMatrix laplacian, const Unknowns& unknowns,
                                        int count) {
  const int size = unknowns.count();
  if (!invert_symmetric(laplacian)) return std::nullopt;
  FloatMatrix inverse = std::move(laplacian);
  for (int i = 0; i < size; ++i) {
    // No entry is larger than the largest on the diagonal, nor is that than the largest eigenvalue.
    if (!(inverse.row(i)[i] * kInverseLooksZero < 1)) return std::nullopt;
  }
  std::optional<LeastEigenpairs> least = least_eigenpairs(inverse, unknowns.trivial, count);
  if (!least) return std::nullopt;
  FloatMatrix& vectors = least->vectors;
  std::vector<float> along(at(vectors.stride), 0.0F);
  add_combinations(unknowns.trivial.data(), 0, 1, vectors.row(0), vectors.stride, size,
                   along.data(), 0, 1, vectors.stride);
  for (int i = 0; i < size; ++i) {
    const float trivial = unknowns.trivial[at(i)];
    for (int k = 0; k < count; ++k) vectors.row(i)[k] -= trivial * along[at(k)];
    const float factor = trivial / kTrivial;
    for (int j = 0; j < size; ++j) inverse.row(i)[j] -= factor * unknowns.trivial[at(j)];
  }
  return DenseSolution{std::move(least->values), std::move(vectors), std::move(inverse)};
}

Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
           Eigen::OuterStride<>>
mapped(FloatMatrix& a) {
  return {a.row(0), a.rows, a.columns, Eigen::OuterStride<>(a.stride)};
}

std::optional<DenseSolution> by_all_eigenvectors(const DenseProblem& problem, int count) {
  if (!problem.a.allFinite()) return std::nullopt;
  const auto n = static_cast<Eigen::Index>(problem.element.size());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXf> solver(problem.a.cast<float>());
  if (solver.info() != Eigen::Success) return std::nullopt;
  const Eigen::MatrixXf& vectors = solver.eigenvectors();
  Eigen::VectorXf inverse_values(n);
  std::vector<double> values;
  for (Eigen::Index k = 0; k < n; ++k) {
    double lambda = 1 - static_cast<double>(solver.eigenvalues()(k));
    if (lambda < kLooksZero) {  // These are looked at in double.
      const Eigen::VectorXd vector = vectors.col(k).cast<double>();
      lambda = 1 - vector.dot(problem.a * vector) / vector.squaredNorm();
    }
    values.push_back(lambda);
    inverse_values(k) = lambda > kZero && k > 0 ? static_cast<float>(1 / lambda) : 0.0F;
  }
  const int size = static_cast<int>(n);
  // Ascending are those of A, in which the trivial one was taken out.
  std::reverse(values.begin(), values.end());
  values.resize(at(count));
  DenseSolution solution{std::move(values), FloatMatrix(size, count), FloatMatrix(size, size)};
  mapped(solution.vectors) = vectors.rightCols(count).rowwise().reverse();
  mapped(solution.inverse) = vectors * inverse_values.asDiagonal() * vectors.transpose();
  return solution;
}

}  // namespace

std::optional<CoarsestLevel> solve_coarsest_level(const DiaShape& shape, const float* values,
                                                  std::span<const float> sqrt_degree, int columns) {
  const Unknowns unknowns = unknowns_of(sqrt_degree);
  const int size = unknowns.count();
  if (size < columns) return std::nullopt;
  FloatMatrix laplacian = shifted_laplacian(shape, values, unknowns);
  if (!std::all_of(laplacian.values.begin(), laplacian.values.end(),
                   [](float value) { return std::isfinite(value); })) {
    return std::nullopt;
  }
  const int count = columns - 1;
  std::optional<DenseSolution> solution = by_inverse(std::move(laplacian), unknowns, count);
  if (!solution) {
    HostDiaMatrix matrix{shape, {values, values + shape.stored() - shape.pitch + shape.rows}};
    matrix.values.resize(shape.stored());
    solution =
        by_all_eigenvectors(dense_problem(matrix, {sqrt_degree.begin(), sqrt_degree.end()}), count);
  }
  if (!solution) return std::nullopt;
  const auto wide = static_cast<std::size_t>(columns);
  CoarsestLevel last{
      std::vector<float>(shape.rows * wide), {1}, std::vector<float>(shape.rows * shape.rows)};
  for (const double lambda : solution->values) last.values.push_back(1 - lambda);
  for (int i = 0; i < size; ++i) {
    const auto element = at(unknowns.element[at(i)]);
    float* vectors = last.vectors.data() + element * wide;
    vectors[0] = unknowns.trivial[at(i)];
    std::copy_n(solution->vectors.row(i), count, vectors + 1);
    float* inverse = last.inverse.data() + element * shape.rows;
    if (at(size) == shape.rows) {
      std::copy_n(solution->inverse.row(i), size, inverse);
      continue;
    }
    for (int j = 0; j < size; ++j) {
      inverse[unknowns.element[at(j)]] = solution->inverse.row(i)[j];
    }
  }
  return last;
}

}  // namespace diacut
