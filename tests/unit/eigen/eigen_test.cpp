// What residuals tell of eigenvalues, the steps of LOBPCG, and the dense solver of the coarsest
// level.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "answers/problems.hpp"
#include "diacut/errors.hpp"
#include "eigen/dense/dense.hpp"
#include "eigen/lobpcg/ritz.hpp"
#include "eigen/multilevel/coarsest_level.hpp"
#include "eigen/resolution.hpp"

namespace diacut {
namespace {

/// Normally distributed.
Eigen::MatrixXd random_block(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}

/// Orthonormal columns that span what these span.
Eigen::MatrixXd orthonormal(const Eigen::MatrixXd& columns) {
  return Eigen::HouseholderQR<Eigen::MatrixXd>(columns).householderQ() *
         Eigen::MatrixXd::Identity(columns.rows(), columns.cols());
}

/// A symmetric matrix, and its eigenvalues with a vector in each column.
struct Spectrum {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
  Eigen::MatrixXd matrix;

  Spectrum(const Eigen::VectorXd& eigenvalues, unsigned seed)
      : values(eigenvalues),
        vectors(orthonormal(random_block(values.size(), values.size(), seed))),
        matrix(vectors * values.asDiagonal() * vectors.transpose()) {}
  /// The eigenvalue 1 comes first.
  explicit Spectrum(int size) : Spectrum(Eigen::VectorXd::LinSpaced(size, 1, -0.3), 3) {}
};

TEST(EigenResolution, BoundsFollowTheFormulas) {
  struct Case {
    const char* what;
    std::vector<double> values;
    std::vector<double> residuals;
    std::size_t k;
    EigenResolution expected;  ///< Error, angle, and whether it is resolved.
  };
  const double r = kResidualRounding;
  const std::vector<double> apart = {0, 0.1, 0.3, 0.6};
  const std::vector<double> rough = {0, 0.02, 0.03, 0.01};
  const std::vector<double> equal = {0, 0.1, 0.1, 0.9};
  const std::vector<double> small = {0, 1e-5, 2e-5, 1, 2};
  const std::vector<double> tiny = {0, 5e-8, 1};
  const std::vector<double> none = {0, 0, 0};
  const std::vector<double> same(5, 1e-4);
  for (const auto& [what, values, residuals, k, expected] :
       {Case{"what is known has no error", {0, 0.5}, {1e-3, 1e-3}, 0, {0, 0, true}},
        {"neighbours at .1 + .02 and .6 - .01", apart, rough, 2, {9e-4 / 0.18, 0.03 / 0.18, true}},
        {"what is known is a neighbour", apart, rough, 1, {4e-4 / 0.1, 0.2, true}},
        {"the last has no upper neighbour", {0, 0.1}, {0, 0.02}, 1, {0.02, 1, true}},
        {"a residual as large as the value", small, same, 1, {1e-4, 1, false}},
        {"and of the one beside it", small, same, 2, {1e-4, 1, false}},
        {"equal values have no direction of their own", equal, same, 1, {1e-4, 1, true}},
        {"residuals below the rounding of floats count as that", tiny, none, 1, {r, 1, false}},
        {"and the last one's", tiny, none, 2, {r, 1, true}}}) {
    SCOPED_TRACE(what);
    const EigenResolution found =
        resolution_of(values, std::span(residuals).first(values.size()))[k];
    EXPECT_DOUBLE_EQ(found.error, expected.error);
    EXPECT_DOUBLE_EQ(found.angle, expected.angle);
    EXPECT_EQ(found.resolved, expected.resolved);
  }
  EXPECT_TRUE(resolution_of(small, std::vector{0.0, 1e-6, 1e-6, 1e-4, 1e-4})[1].resolved);
  EXPECT_FALSE(
      resolution_of(std::vector{0.0, 0.5, 0.9}, std::vector<double>{0, NAN, 0.1})[1].resolved);
}

/// Ritz pairs of a matrix of known eigenvalues from a space that is tilted by about `tilt`: no
/// bound is smaller than the error.
void expect_bounds_hold(double tilt, unsigned seed) {
  constexpr Eigen::Index kSize = 40;
  constexpr Eigen::Index kWanted = 6;
  const Spectrum exact(Eigen::ArrayXd::LinSpaced(kSize, 0, 1 - 1.0 / kSize).square(), seed);
  Eigen::MatrixXd space = exact.vectors.leftCols(kWanted);
  space.rightCols(kWanted - 1) += tilt * random_block(kSize, kWanted - 1, seed + 100);
  space = orthonormal(space);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz(space.transpose() * exact.matrix *
                                                            space);
  const Eigen::VectorXd& values = ritz.eigenvalues();
  const Eigen::MatrixXd vectors = space * ritz.eigenvectors();
  const Eigen::VectorXd residuals =
      (exact.matrix * vectors - vectors * values.asDiagonal()).colwise().norm();
  const auto found = resolution_of({values.data(), kWanted}, {residuals.data(), kWanted});
  for (Eigen::Index k = 1; k < kWanted; ++k) {
    const EigenResolution& bound = found[static_cast<std::size_t>(k)];
    const double cosine = std::abs(exact.vectors.col(k).dot(vectors.col(k)));
    EXPECT_LE(std::abs(exact.values(k) - values(k)), bound.error + 1e-14)
        << k << " tilted by " << tilt;
    EXPECT_LE(std::sqrt(std::max(1 - cosine * cosine, 0.0)), bound.angle + 1e-7) << k;
  }
}

TEST(EigenResolution, NoErrorOfARitzPairIsLargerThanItsBounds) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    for (const double tilt : {1e-5, 1e-4, 1e-3}) expect_bounds_hold(tilt, seed);
  }
}

TEST(EigenResolution, ANoteTellsHowManyAreNotResolved) {
  EigenReport report;
  report.resolution = {{0, 0, true}, {1e-4, 1, false}, {1e-6, .1, true}};
  const auto note = resolution_note(report);
  ASSERT_TRUE(note);
  EXPECT_NE(note->find("2 of 3 eigenvalues"), std::string::npos) << *note;
  report.resolution[1].resolved = true;
  EXPECT_FALSE(resolution_note(report));
  EXPECT_FALSE(resolution_note(EigenReport{}));
}

/// Row-major numbers as the columns of a matrix.
Eigen::MatrixXd columns_of(const std::vector<float>& values, Eigen::Index columns) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = static_cast<Eigen::Index>(values.size()) / columns;
  return Eigen::Map<const Rows>(values.data(), rows, columns).cast<double>();
}

/// The step in the span of `s`, as a dense problem in an orthonormal basis without the trivial
/// vector gives it.
Eigen::VectorXd expected_values(const Spectrum& spectrum, const Eigen::MatrixXd& s, int count) {
  const Eigen::VectorXd trivial = spectrum.vectors.col(0);
  const Eigen::MatrixXd rest =
      s.rightCols(s.cols() - 1) - trivial * (trivial.transpose() * s.rightCols(s.cols() - 1));
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(rest, Eigen::ComputeThinU);
  const auto rank = (svd.singularValues().array() > 1e-9).count();
  const Eigen::MatrixXd basis = svd.matrixU().leftCols(rank);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(basis.transpose() * spectrum.matrix *
                                                              basis);
  return solver.eigenvalues().reverse().head(std::min<Eigen::Index>(count, rank));
}

Eigen::MatrixXd beside(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
  Eigen::MatrixXd both(left.rows(), left.cols() + right.cols());
  both << left, right;
  return both;
}

/// Expects the step in the span of S to be the best of the span of `basis`, which is S without what
/// is skipped.
RitzStep expect_best(const Spectrum& spectrum, const Eigen::MatrixXd& s,
                     const Eigen::MatrixXd& basis, int columns,
                     const std::vector<bool>& skipped = {}) {
  const RitzStep step =
      solve_ritz(s.transpose() * s, s.transpose() * spectrum.matrix * s, columns, skipped);
  EXPECT_EQ(step.found, columns - 1);
  const Eigen::VectorXd expected = expected_values(spectrum, basis, columns - 1);
  for (int k = 1; k < columns; ++k) {
    EXPECT_NEAR(step.values[static_cast<std::size_t>(k)], expected(k - 1), 1e-9);
  }
  return step;
}

TEST(Ritz, FindsTheBestOfASpanWithoutTheTrivialVector) {
  constexpr int kColumns = 6;
  const Spectrum spectrum(40);
  Eigen::MatrixXd s = random_block(40, 3 * kColumns, 5);
  s.col(0) = 2.5 * spectrum.vectors.col(0);  // Its norm is not for the caller to keep.
  const RitzStep step = expect_best(spectrum, s, s, kColumns);
  EXPECT_EQ(step.values[0], 1);
  const Eigen::MatrixXd z = s * columns_of(step.rotation, kColumns);
  EXPECT_LT((z.transpose() * z - Eigen::MatrixXd::Identity(kColumns, kColumns)).norm(), 1e-5);
  EXPECT_LT((z.col(0) - spectrum.vectors.col(0)).norm(), 1e-6);
  for (int k = 1; k < kColumns; ++k) {
    EXPECT_NEAR(z.col(k).dot(spectrum.matrix * z.col(k)), step.values[static_cast<std::size_t>(k)],
                1e-5);
  }
}

TEST(Ritz, TakesZeroAndDependentColumns) {
  constexpr int kColumns = 5;
  const Spectrum spectrum(30);
  Eigen::MatrixXd s = random_block(30, 3 * kColumns, 6);
  s.col(0) = spectrum.vectors.col(0);
  s.col(kColumns).setZero();
  s.col(kColumns + 1) = s.col(1) + s.col(2);
  s.col(kColumns + 2) = 3 * s.col(kColumns + 3);
  s.col(2 * kColumns) = s.col(0);
  expect_best(spectrum, s, s, kColumns);
}

TEST(Ritz, LosesNothingOfTheVectorsSoFarToACorrectionLikeThem) {
  constexpr int kColumns = 4;
  const Spectrum spectrum(30);
  const Eigen::MatrixXd so_far = spectrum.vectors.leftCols(kColumns);
  expect_best(spectrum, beside(so_far, so_far + 1e-3 * random_block(30, kColumns, 7)),
              spectrum.vectors.leftCols(kColumns), kColumns);
}

TEST(Ritz, LeavesOutWhatItIsTold) {
  constexpr int kColumns = 3;
  const Spectrum spectrum(20);
  Eigen::MatrixXd s = random_block(20, 2 * kColumns, 8);
  s.col(0) = spectrum.vectors.col(0);
  std::vector<bool> skipped(2 * kColumns, false);
  skipped[kColumns] = skipped[kColumns + 1] = true;
  const RitzStep step = expect_best(spectrum, s, beside(s.leftCols(kColumns), s.col(kColumns + 2)),
                                    kColumns, skipped);
  EXPECT_TRUE(columns_of(step.rotation, kColumns).middleRows(kColumns, 2).isZero(0));
}

TEST(Ritz, SaysHowManyASmallSpanHolds) {
  const Spectrum spectrum(10);
  Eigen::MatrixXd s = Eigen::MatrixXd::Zero(10, 8);
  s.col(0) = spectrum.vectors.col(0);
  s.col(3) = spectrum.vectors.col(4);
  const RitzStep step = solve_ritz(s.transpose() * s, s.transpose() * spectrum.matrix * s, 8);
  EXPECT_EQ(step.found, 1);
  EXPECT_NEAR(step.values[1], spectrum.values(4), 1e-12);
  EXPECT_EQ(step.values[2], 0);
}

TEST(Ritz, RefusesWhatIsNotFinite) {
  Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(4, 4);
  const Eigen::MatrixXd product = gram;
  gram(2, 1) = NAN;
  EXPECT_THROW(solve_ritz(gram, product, 4), NumericalError);
  EXPECT_THROW(solve_ritz(product, gram, 4), NumericalError);
}

TEST(ProjectedLaplacian, HasZerosForDirectionsThatWereNotSelectedBefore) {
  // X has two columns, W and P have one.
  RitzStep step;
  step.rotation = {1, 0, 0, 1, 1, 1, 1, 1};
  ProjectedLaplacian projected(2);
  projected.rotate(Eigen::MatrixXd::Ones(4, 4), step, std::vector<std::int32_t>{1});
  projected.select(std::vector<std::int32_t>{-1});
  Eigen::MatrixXd found = Eigen::MatrixXd::Ones(4, 4);
  projected.complete(found);
  EXPECT_TRUE(found.col(3) == Eigen::Vector4d(0, 0, 1, 0)) << found;
  EXPECT_TRUE(found.row(3).transpose() == Eigen::Vector4d(0, 0, 1, 0)) << found;
}

constexpr double kEps = std::numeric_limits<float>::epsilon();

/// A normalized affinity matrix D^-1/2 W D^-1/2 with random weights between neighbours, as it is
/// stored, and the roots of its degrees. Weights between bands, of `band` columns each, are
/// `across` times what they are within.
BlockProblem on_grid(int width, int height, int band, double across,
                     const std::vector<std::size_t>& hidden = {}) {
  BlockProblem problem(width, height, 2, 7, hidden);
  std::vector<double> degree(problem.rows(), 0.0);
  const auto each_weight = [&](const auto& visit) {
    for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
      for (std::size_t i = 0; i < problem.rows(); ++i) {
        float& weight = problem.entry(d, i);
        const auto offset = static_cast<std::size_t>(problem.matrix.shape.offsets[d]);
        if (weight != 0) visit(weight, i, i + offset);
      }
    }
  };
  const auto band_of = [&](std::size_t i) { return static_cast<int>(i) % width / band; };
  each_weight([&](float& weight, std::size_t i, std::size_t j) {
    if (band_of(i) != band_of(j)) weight = static_cast<float>(across * weight);
    degree[i] += weight;
  });
  each_weight([&](float& weight, std::size_t i, std::size_t j) {
    weight = static_cast<float>(weight / std::sqrt(degree[i] * degree[j]));
  });
  for (std::size_t i = 0; i < degree.size(); ++i) {
    problem.sqrt_degree[i] = static_cast<float>(std::sqrt(degree[i]));
  }
  return problem;
}

BlockProblem on_grid(int width, int height) { return on_grid(width, height, width, 1); }

/// As the last image of several has them: nothing follows the last diagonal, which a sanitizer
/// sees.
std::optional<CoarsestLevel> solve(const BlockProblem& problem, int columns) {
  const DiaShape& shape = problem.matrix.shape;
  const auto& values = problem.matrix.values;
  const std::vector<float> own(
      values.begin(),
      values.begin() + static_cast<std::ptrdiff_t>(shape.stored() - shape.pitch + shape.rows));
  return solve_coarsest_level(shape, own.data(), problem.sqrt_degree, columns);
}

/// The inverse on what is orthogonal to the trivial eigenvector, of eigenvalues above 1e-6.
Eigen::MatrixXd expected_inverse(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& solver) {
  Eigen::VectorXd inverse = 1 - solver.eigenvalues().array();
  inverse = inverse.unaryExpr([](double value) { return value > 1e-6 ? 1 / value : 0; });
  inverse(0) = 0;
  return solver.eigenvectors() * inverse.asDiagonal() * solver.eigenvectors().transpose();
}

void expect_solved(const BlockProblem& problem, int columns) {
  const std::optional<CoarsestLevel> last = solve(problem, columns);
  ASSERT_TRUE(last);
  const DenseProblem dense = dense_problem(problem.matrix, problem.sqrt_degree);
  const auto n = static_cast<Eigen::Index>(dense.element.size());
  const auto rows = static_cast<Eigen::Index>(problem.rows());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense.a);

  // A backward stable inverse of a matrix of norm at most 3 is off by n eps 3 |inverse|^2.
  const Eigen::MatrixXd inverse = columns_of(last->inverse, rows)(dense.element, dense.element);
  const Eigen::MatrixXd expected = expected_inverse(solver);
  const double norm = std::max(expected.operatorNorm(), 1.0);
  EXPECT_LE((inverse - expected).operatorNorm(), static_cast<double>(n) * kEps * 3 * norm * norm);
  EXPECT_EQ(std::count_if(last->inverse.begin(), last->inverse.end(),
                          [](float value) { return value != 0; }),
            (inverse.array() != 0).count());

  const Eigen::MatrixXd vectors = columns_of(last->vectors, columns)(dense.element, Eigen::all);
  EXPECT_LE((vectors.col(0) - dense.trivial).norm(), 4 * kEps);
  EXPECT_LE((vectors.transpose() * vectors - Eigen::MatrixXd::Identity(columns, columns)).norm(),
            static_cast<double>(n) * kEps * norm);
  ASSERT_EQ(last->values.size(), static_cast<std::size_t>(columns));
  EXPECT_EQ(last->values[0], 1);
  for (Eigen::Index k = 1; k < columns; ++k) {
    const double value = vectors.col(k).dot(dense.a * vectors.col(k));
    EXPECT_NEAR(last->values[static_cast<std::size_t>(k)], value,
                static_cast<double>(n) * kEps * norm)
        << k;
    // No Ritz value is above its eigenvalue.
    EXPECT_LE(value, solver.eigenvalues()(n - k) + static_cast<double>(n) * kEps) << k;
  }
  // Two steps of subspace iteration at least leave of the tangent of an angle the square of the
  // eigenvalues' ratio. The angles at the start are their own matter; 100 is well below a random
  // start's.
  const double ratio = (1 - solver.eigenvalues()(n - columns + 1)) /
                       (1 - solver.eigenvalues()(std::max<Eigen::Index>(n - columns - 7, 0)));
  const Eigen::MatrixXd exact = solver.eigenvectors().rightCols(columns - 1);
  const Eigen::MatrixXd rest = vectors.rightCols(columns - 1);
  EXPECT_LE((rest - exact * (exact.transpose() * rest)).operatorNorm(),
            std::min(1.0, 100 * ratio * ratio));
}

TEST(CoarsestLevel, SolvesGridsOfManySizes) {
  struct Case {
    int width;
    int height;
    int columns;
  };
  for (const auto& [width, height, columns] : {Case{16, 11, 24},
                                               {16, 16, 24},
                                               {17, 11, 17},
                                               {1, 131, 5},
                                               {41, 3, 24},
                                               {23, 19, 24},
                                               // Hardly more rows than columns.
                                               {5, 5, 24},
                                               {3, 2, 6},
                                               {2, 1, 2}}) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height);
    expect_solved(on_grid(width, height), columns);
  }
  EXPECT_FALSE(solve(on_grid(5, 5), 26));
}

TEST(CoarsestLevel, LeavesOutWhatHasNoData) {
  std::vector<std::size_t> hidden;
  for (std::size_t i = 0; i < 17 * 13; ++i) {
    if (i % 7 == 3 || i <= 20) hidden.push_back(i);
  }
  expect_solved(on_grid(17, 13, 17, 1, hidden), 12);
}

TEST(CoarsestLevel, FindsBandsAndPiecesApart) {
  // Seven eigenvalues of I - A near 0 beside the trivial one, which are what is wanted.
  for (const double across : {1e-2, 1e-3, 1e-4}) expect_solved(on_grid(32, 8, 4, across), 8);
  // More than one eigenvalue 1, whose vectors the inverse leaves alone.
  for (const int band : {4, 5, 8}) expect_solved(on_grid(16, 11, band, 0), 24);
}

TEST(CoarsestLevel, TakesNoInfinity) {
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    for (const std::size_t apart : {0, 1}) {  // On the diagonal, and on both sides of it.
      BlockProblem problem = on_grid(12, 10);
      const std::size_t centre = problem.stencil.centre();
      problem.entry(centre + apart, 60) = value;
      problem.entry(centre - apart, 60 + apart) = value;
      EXPECT_FALSE(solve(problem, 10)) << value;
    }
  }
}

}  // namespace
}  // namespace diacut
