// What residuals tell of eigenvalues, the steps of LOBPCG, and the dense solver of the coarsest
// level.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "diacut/errors.hpp"
#include "eigen/dense/dense.hpp"
#include "eigen/lobpcg/ritz.hpp"
#include "eigen/multilevel/coarsest_level.hpp"
#include "eigen/resolution.hpp"

namespace diacut {
namespace {

TEST(EigenResolution, BoundsFollowTheFormulas) {
  struct Case {
    const char* what;
    std::vector<double> values;
    std::vector<double> residuals;
    std::size_t k;
    double error, angle;
    bool resolved;
  };
  const double r = kResidualRounding;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> small = {0, 1e-5, 2e-5, 1, 2};
  for (const auto& [what, values, residuals, k, error, angle, resolved] :
       {Case{"what is known has no error", {0, 0.5}, {1e-3, 1e-3}, 0, 0, 0, true},
        {"the neighbours may be at .1 + .02 and .6 - .01",
         {0, 0.1, 0.3, 0.6},
         {0, 0.02, 0.03, 0.01},
         2,
         0.03 * 0.03 / 0.18,
         0.03 / 0.18,
         true},
        {"what is known is a neighbour",
         {0, 0.1, 0.3, 0.6},
         {0, 0.02, 0.03, 0.01},
         1,
         0.02 * 0.02 / 0.1,
         0.2,
         true},
        {"the last has no upper neighbour", {0, 0.1}, {0, 0.02}, 1, 0.02, 1, true},
        {"a residual as large as the value", small, {0, 1e-4, 1e-4, 1e-4, 1e-4}, 1, 1e-4, 1, false},
        {"and of the one beside it", small, {0, 1e-4, 1e-4, 1e-4, 1e-4}, 2, 1e-4, 1, false},
        {"equal values have no direction of their own",
         {0, 0.1, 0.1, 0.9},
         {1e-4, 1e-4, 1e-4, 1e-4},
         1,
         1e-4,
         1,
         true},
        {"residuals below the rounding of floats count as that",
         {0, 5e-8, 1},
         {0, 0, 0},
         1,
         r,
         1,
         false},
        {"and the last one's", {0, 5e-8, 1}, {0, 0, 0}, 2, r, 1, true}}) {
    SCOPED_TRACE(what);
    const EigenResolution found = resolution_of(values, residuals)[k];
    EXPECT_DOUBLE_EQ(found.error, error);
    EXPECT_DOUBLE_EQ(found.angle, angle);
    EXPECT_EQ(found.resolved, resolved);
  }
  EXPECT_TRUE(resolution_of(small, std::vector{0.0, 1e-6, 1e-6, 1e-4, 1e-4})[1].resolved);
  EXPECT_FALSE(resolution_of(std::vector{0.0, 0.5, 0.9}, std::vector{0.0, nan, 0.1})[1].resolved);
}

/// Ritz pairs of a matrix of known eigenvalues from a space that is tilted by about `tilt`: no
/// bound is smaller than the error.
void expect_bounds_hold(double tilt, unsigned seed) {
  constexpr Eigen::Index kSize = 40;
  constexpr Eigen::Index kWanted = 6;
  std::srand(seed);
  const Eigen::MatrixXd directions =
      Eigen::HouseholderQR<Eigen::MatrixXd>(Eigen::MatrixXd::Random(kSize, kSize)).householderQ();
  Eigen::VectorXd exact(kSize);
  for (Eigen::Index k = 0; k < kSize; ++k) {
    exact(k) = std::pow(static_cast<double>(k) / kSize, 2);
  }
  const Eigen::MatrixXd matrix = directions * exact.asDiagonal() * directions.transpose();
  Eigen::MatrixXd space = directions.leftCols(kWanted);
  space.rightCols(kWanted - 1) += tilt * Eigen::MatrixXd::Random(kSize, kWanted - 1);
  space = Eigen::HouseholderQR<Eigen::MatrixXd>(space).householderQ() *
          Eigen::MatrixXd::Identity(kSize, kWanted);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz(space.transpose() * matrix * space);
  const Eigen::MatrixXd vectors = space * ritz.eigenvectors();
  std::vector<double> values;
  std::vector<double> residuals;
  for (Eigen::Index k = 0; k < kWanted; ++k) {
    values.push_back(ritz.eigenvalues()(k));
    residuals.push_back((matrix * vectors.col(k) - values.back() * vectors.col(k)).norm());
  }
  const auto found = resolution_of(values, residuals);
  for (Eigen::Index k = 1; k < kWanted; ++k) {
    const EigenResolution& bound = found[static_cast<std::size_t>(k)];
    const double error = std::abs(exact(k) - ritz.eigenvalues()(k));
    const double cosine = std::abs(directions.col(k).dot(vectors.col(k)));
    EXPECT_LE(error, bound.error + 1e-14) << k << " tilted by " << tilt;
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

/// A symmetric matrix whose eigenvalue 1 belongs to the first column of `vectors`.
struct Spectrum {
  Eigen::MatrixXd vectors;
  Eigen::VectorXd values;
  Eigen::MatrixXd matrix;

  explicit Spectrum(int size) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    const Eigen::MatrixXd any =
        Eigen::MatrixXd::NullaryExpr(size, size, [&] { return normal(random); });
    vectors = Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ();
    values = Eigen::VectorXd::LinSpaced(size, 1, -0.3);
    matrix = vectors * values.asDiagonal() * vectors.transpose();
  }
};

Eigen::MatrixXd rotated(const Eigen::MatrixXd& s, const RitzStep& step, int columns) {
  Eigen::MatrixXd q(s.cols(), columns);
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    for (Eigen::Index j = 0; j < columns; ++j) {
      q(i, j) = step.rotation[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return s * q;
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

Eigen::MatrixXd random_block(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
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
  const Eigen::MatrixXd z = rotated(s, step, kColumns);
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
  for (const int row : {kColumns, kColumns + 1}) {
    for (int k = 1; k < kColumns; ++k) {
      EXPECT_EQ(step.rotation[static_cast<std::size_t>(row * kColumns + k)], 0);
    }
  }
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

constexpr int kRows = 30;
constexpr int kColumns = 4;

/// One step from S = [X W P] to X = S Q and P, in matrices and in ProjectedLaplacian.
class ProjectedLaplacianTest : public ::testing::Test {
 protected:
  ProjectedLaplacianTest() {
    const Eigen::MatrixXd any = random_block(kRows, kRows, 1);
    l_ = any + any.transpose();
    const Eigen::MatrixXd s = random_block(kRows, kColumns + 2 * 2, 2);
    const std::vector<std::int32_t> selected = {1, 3};
    RitzStep step;
    Eigen::MatrixXd q = random_block(s.cols(), kColumns, 3);
    for (Eigen::Index i = 0; i < q.rows(); ++i) {
      for (Eigen::Index j = 0; j < q.cols(); ++j) {
        step.rotation.push_back(static_cast<float>(q(i, j)));
        q(i, j) = step.rotation.back();
      }
    }
    projected_.rotate(s.transpose() * l_ * s, step, selected);
    x_ = s * q;
    const Eigen::MatrixXd directions = s.rightCols(4) * q.bottomRows(4);
    p_ = beside(directions.col(1), directions.col(3));
  }

  /// S'L S of the next basis [X W P] as complete() has it, against the plain product.
  void expect_completed(const Eigen::MatrixXd& p) {
    const Eigen::Index narrow = p.cols();
    const Eigen::MatrixXd s = beside(beside(x_, random_block(kRows, narrow, 4)), p);
    const Eigen::MatrixXd expected = s.transpose() * l_ * s;
    Eigen::MatrixXd found = expected;
    // The products L W tell nothing of the blocks of X and P.
    found.topLeftCorner(kColumns, kColumns).setConstant(NAN);
    found.topRightCorner(kColumns, narrow).setConstant(NAN);
    found.bottomLeftCorner(narrow, kColumns).setConstant(NAN);
    found.bottomRightCorner(narrow, narrow).setConstant(NAN);
    projected_.complete(found);
    ASSERT_TRUE(found.allFinite());
    EXPECT_LE((found - expected).norm(), 1e-12 * expected.norm());
  }

  Eigen::MatrixXd l_;
  Eigen::MatrixXd x_;
  Eigen::MatrixXd p_;
  ProjectedLaplacian projected_{kColumns};
};

TEST_F(ProjectedLaplacianTest, IsKnownAfterAStep) {
  EXPECT_FALSE(ProjectedLaplacian(kColumns).known());
  EXPECT_TRUE(projected_.known());
  expect_completed(p_);
}

TEST_F(ProjectedLaplacianTest, FollowsASelectionOfDirections) {
  // The second direction, and a column that was not selected before.
  const std::vector<std::int32_t> directions = {1, -1};
  projected_.select(directions);
  expect_completed(beside(p_.col(1), Eigen::MatrixXd::Zero(kRows, 1)));
}

TEST_F(ProjectedLaplacianTest, WithoutDirectionsOnlyXIsLeft) {
  projected_.select({});
  expect_completed(Eigen::MatrixXd(kRows, 0));
}

TEST(GramOfSelected, LeavesOutTheColumnsThatAnImageDoesNotHave) {
  // X has 2 columns, W and P are 3 wide, of which the image has 1.
  constexpr int kSide = 2 + 2 * 3;
  std::vector<double> whole;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) whole.push_back(10 * std::min(i, j) + std::max(i, j));
  }
  const Eigen::MatrixXd found = gram_of_selected(whole, kSide, 2, 3, 1);
  const int columns[] = {0, 1, 2, 5};
  ASSERT_EQ(found.rows(), 4);
  ASSERT_EQ(found.cols(), 4);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(found(i, j), whole[static_cast<std::size_t>(columns[i] * kSide + columns[j])]);
    }
  }
}

constexpr double kEps = std::numeric_limits<float>::epsilon();

/// A normalized affinity matrix D^-1/2 W D^-1/2 with weights between neighbours on a grid, as it is
/// stored, and the roots of its degrees.
struct Problem {
  HostDiaMatrix matrix;
  std::vector<float> sqrt_degree;
};

/// Weights between bands, of `band` columns each, are `across` times what they are within.
template <typename HasData>
Problem on_grid(int width, int height, int band, double across, HasData has_data) {
  constexpr int kRadius = 2;
  const auto rows = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  Problem problem;
  problem.matrix.shape.rows = rows;
  problem.matrix.shape.pitch = rows + 3;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> weight(0.05, 1);
  const auto n = static_cast<Eigen::Index>(rows);
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      const int dx = j % width - i % width;
      const int dy = j / width - i / width;
      const double drawn = weight(random);
      if (std::abs(dx) > kRadius || dy > kRadius || !has_data(i) || !has_data(j)) continue;
      const bool within = i % width / band == j % width / band;
      w(i, j) = w(j, i) = within ? drawn : across * drawn;
    }
  }
  const Eigen::VectorXd root = w.rowwise().sum().cwiseSqrt();
  for (int i = 0; i < n; ++i) problem.sqrt_degree.push_back(static_cast<float>(root(i)));
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const int offset = dy * width + dx;
      problem.matrix.shape.offsets.push_back(offset);
      for (int i = 0; i < static_cast<int>(problem.matrix.shape.pitch); ++i) {
        const int j = i + offset;
        const bool inside = i < n && j >= 0 && j < n && j % width - i % width == dx && w(i, j) > 0;
        problem.matrix.values.push_back(inside ? static_cast<float>(w(i, j) / (root(i) * root(j)))
                                               : 0.0F);
      }
    }
  }
  return problem;
}

Problem on_grid(int width, int height) {
  return on_grid(width, height, width, 1, [](int) { return true; });
}

/// As the last image of several has them: nothing follows the last diagonal, which a sanitizer
/// sees.
std::optional<CoarsestLevel> solve(const Problem& problem, int columns) {
  const DiaShape& shape = problem.matrix.shape;
  const auto& values = problem.matrix.values;
  const std::vector<float> own(
      values.begin(),
      values.begin() + static_cast<std::ptrdiff_t>(shape.stored() - shape.pitch + shape.rows));
  return solve_coarsest_level(shape, own.data(), problem.sqrt_degree, columns);
}

/// What has data of a result.
Eigen::MatrixXd kept(const std::vector<float>& values, int columns, const DenseProblem& dense,
                     bool both) {
  const auto n = static_cast<Eigen::Index>(dense.element.size());
  return Eigen::MatrixXd::NullaryExpr(n, both ? n : columns, [&](auto i, auto j) {
    return values[static_cast<std::size_t>(dense.element[i] * columns +
                                           (both ? dense.element[j] : j))];
  });
}

/// The inverse on what is orthogonal to the trivial eigenvector, of eigenvalues above 1e-6.
Eigen::MatrixXd expected_inverse(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& solver) {
  Eigen::VectorXd inverse = 1 - solver.eigenvalues().array();
  inverse = inverse.unaryExpr([](double value) { return value > 1e-6 ? 1 / value : 0; });
  inverse(0) = 0;
  return solver.eigenvectors() * inverse.asDiagonal() * solver.eigenvectors().transpose();
}

void expect_solved(const Problem& problem, int columns) {
  const std::optional<CoarsestLevel> last = solve(problem, columns);
  ASSERT_TRUE(last);
  const DenseProblem dense = dense_problem(problem.matrix, problem.sqrt_degree);
  const auto n = static_cast<Eigen::Index>(dense.element.size());
  const auto rows = static_cast<int>(problem.matrix.shape.rows);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense.a);

  // A backward stable inverse of a matrix of norm at most 3 is off by n eps 3 |inverse|^2.
  const Eigen::MatrixXd inverse = kept(last->inverse, rows, dense, true);
  const Eigen::MatrixXd expected = expected_inverse(solver);
  const double norm = std::max(expected.operatorNorm(), 1.0);
  EXPECT_LE((inverse - expected).operatorNorm(), static_cast<double>(n) * kEps * 3 * norm * norm);
  EXPECT_EQ(std::count_if(last->inverse.begin(), last->inverse.end(),
                          [](float value) { return value != 0; }),
            (inverse.array() != 0).count());

  const Eigen::MatrixXd vectors = kept(last->vectors, columns, dense, false);
  EXPECT_LE((vectors.col(0) - dense.trivial).norm(), 4 * kEps);
  EXPECT_LE((vectors.transpose() * vectors - Eigen::MatrixXd::Identity(columns, columns)).norm(),
            static_cast<double>(n) * kEps * norm);
  ASSERT_EQ(last->values.size(), static_cast<std::size_t>(columns));
  EXPECT_EQ(last->values[0], 1);
  for (Eigen::Index k = 1; k < columns; ++k) {
    EXPECT_NEAR(last->values[static_cast<std::size_t>(k)],
                vectors.col(k).dot(dense.a * vectors.col(k)), static_cast<double>(n) * kEps * norm)
        << k;
  }
  // No Ritz value is above its eigenvalue.
  for (Eigen::Index k = 1; k < columns; ++k) {
    EXPECT_LE(vectors.col(k).dot(dense.a * vectors.col(k)),
              solver.eigenvalues()(n - k) + static_cast<double>(n) * kEps)
        << k;
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
  expect_solved(on_grid(16, 11), 24);
  expect_solved(on_grid(16, 16), 24);
  expect_solved(on_grid(17, 11), 17);
  expect_solved(on_grid(1, 131), 5);
  expect_solved(on_grid(41, 3), 24);
  expect_solved(on_grid(23, 19), 24);
}

TEST(CoarsestLevel, SolvesWhatHardlyHasMoreRowsThanColumns) {
  expect_solved(on_grid(5, 5), 24);
  expect_solved(on_grid(3, 2), 6);
  expect_solved(on_grid(2, 1), 2);
  EXPECT_FALSE(solve(on_grid(5, 5), 26));
}

TEST(CoarsestLevel, LeavesOutWhatHasNoData) {
  const auto some = [](int i) { return i % 7 != 3 && i > 20; };
  expect_solved(on_grid(17, 13, 17, 1, some), 12);
}

TEST(CoarsestLevel, FindsBands) {
  // Seven eigenvalues of I - A near 0 beside the trivial one, which are what is wanted.
  for (const double across : {1e-2, 1e-3, 1e-4}) {
    expect_solved(on_grid(32, 8, 4, across, [](int) { return true; }), 8);
  }
}

TEST(CoarsestLevel, FindsPiecesApart) {
  // More than one eigenvalue 1, whose vectors the inverse leaves alone.
  for (const int band : {4, 5, 8}) {
    expect_solved(on_grid(16, 11, band, 0, [](int) { return true; }), 24);
  }
}

TEST(CoarsestLevel, TakesNoInfinity) {
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    for (const std::size_t apart : {0, 1}) {  // On the diagonal, and on both sides of it.
      Problem problem = on_grid(12, 10);
      const auto entry = [&](std::size_t diagonal, std::size_t row) -> float& {
        return problem.matrix.values[diagonal * problem.matrix.shape.pitch + row];
      };
      entry(12 + apart, 60) = value;
      entry(12 - apart, 60 + apart) = value;
      EXPECT_FALSE(solve(problem, 10)) << value;
    }
  }
}

}  // namespace
}  // namespace diacut
