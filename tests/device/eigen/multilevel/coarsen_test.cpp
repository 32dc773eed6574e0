// Gains of the interpolation and coarse matrices by their definition (known_answers.hpp), and what
// coarse matrices keep of the fine ones.
#include "eigen/multilevel/coarsen.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "block_problem.hpp"
#include "eigen_problem.hpp"
#include "known_answers.hpp"
#include "matchers.hpp"
#include "matrix/dia_matrix.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

class CoarsenTest : public GuardedTest {
 protected:
  /// The coarse matrix of a problem, which is held to its definition.
  template <class Problem>
  HostDiaMatrix coarse_matrix(const Problem& problem, NullSpace null_space = NullSpace::kTrivial) {
    const NormalizedMatrix matrix = matrix_of(context_, problem);
    HostDiaMatrix made;
    expect_right(
        [&](Trial& trial) { made = check_coarse_matrix(trial, problem, matrix, null_space); });
    return made;
  }

  /// Of two noisy halves with discs of these strides: by its definition and symmetric, with the
  /// trivial eigenvector s = sqrt(degrees), A s = s, of the fine grid, and strides of its own.
  void expect_coarse_matrix(int radius, const std::vector<int>& strides,
                            const std::vector<int>& halved) {
    SCOPED_TRACE(::testing::Message() << "largest stride " << strides.back());
    const EigenProblem problem(45, 38, radius, 0.1, {}, strides);
    const HostDiaMatrix coarse = coarse_matrix(problem);
    const Stencil stencil = Coarsen::coarse_stencil(problem.stencil);
    EXPECT_EQ(stencil.strides, halved);
    std::vector<double> s;
    for (int y = 0; y < 38; y += 2) {
      for (int x = 0; x < 45; x += 2) s.push_back(problem.sqrt_degree[problem.element(x, y)]);
    }
    ASSERT_EQ(coarse.shape.rows, s.size());
    const std::vector<double> product = reference_matvec(coarse, s);
    for (std::size_t i = 0; i < s.size(); ++i) {
      ASSERT_NEAR(product[i], s[i], 200 * kEps * s[i]) << i;
    }
    expect_symmetric(coarse);
  }
};

TEST_F(CoarsenTest, LargeCoarseMatricesAreKeptRowsTimesInterpolation) {
  // So large that a GPU's items take several diagonals; and the same values in a smaller image.
  // A CPU's vectors of the coarse grid end where its image rows do.
  constexpr int kWidth = 271;
  constexpr int kReach = 5;
  const BlockProblem tall(kWidth, 257, kReach, 31, {0, 77, 1000, 30000});
  const HostDiaMatrix found = coarse_matrix(tall);

  // What is above the last image rows of the smaller one does not know of what is below.
  constexpr int kLow = 41;
  BlockProblem low(kWidth, kLow, kReach, 31);
  low.sqrt_degree.assign(tall.sqrt_degree.begin(),
                         tall.sqrt_degree.begin() + static_cast<std::ptrdiff_t>(low.rows()));
  const std::vector<StencilOffset>& entries = tall.stencil.entries;
  for (std::size_t d = 0; d < entries.size(); ++d) {
    for (int y = 0; y < kLow; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const bool leaves = y + entries[d].dy >= kLow;
        low.entry(d, low.element(x, y)) =
            leaves ? 0 : tall.matrix.values[d * tall.pitch() + tall.element(x, y)];
      }
    }
  }
  const HostDiaMatrix low_found = coarse_matrix(low);
  constexpr int kCoarseWidth = (kWidth + 1) / 2;
  for (std::size_t d = 0; d < entries.size(); ++d) {
    for (int y = 0; 2 * y + 3 * kReach < kLow; ++y) {
      for (int x = 0; x < kCoarseWidth; ++x) {
        const std::size_t row = at_size(y * kCoarseWidth + x);
        ASSERT_EQ(low_found.values[d * low_found.shape.pitch + row],
                  found.values[d * found.shape.pitch + row])
            << "diagonal " << d << " element " << row;
      }
    }
  }
}

TEST_F(CoarsenTest, GainsOfAMatrixThatLeaksKeepWhatStays) {
  coarse_matrix(BlockProblem(45, 38, 5, 78, {0, 300}), NullSpace::kNone);
}

TEST_F(CoarsenTest, CoarseMatrixKeepsTheTrivialEigenvector) { expect_coarse_matrix(5, {1}, {1}); }

TEST_F(CoarsenTest, GainsOfACompressedMatrixAreThoseOfTheRoundedOne) {
  BlockProblem problem(45, 38, 5, 77);
  static_cast<MatrixProblem&>(problem) = EigenProblem(45, 38, 5);
  const CompressedProblem compressed(context_, problem);
  problem.matrix = compressed.rounded;
  expect_right([&](Trial& trial) {
    check_coarse_matrix(trial, problem, compressed.matrix, NullSpace::kTrivial);
  });
}

class StridedCoarsenTest : public CoarsenTest {};

TEST_F(StridedCoarsenTest, EvenStridesAreHalvedAndOddOnesGoToTheDiagonal) {
  expect_coarse_matrix(3, {1, 2}, {1});
  expect_coarse_matrix(3, {1, 2, 4}, {1, 2});
  expect_coarse_matrix(3, {1, 3}, {1});
  expect_coarse_matrix(3, {1, 2, 3, 6}, {1, 3});
}

class TinyStridedCoarsen : public CoarsenTest {};

TEST_F(TinyStridedCoarsen, MatchesTheDefinition) { expect_coarse_matrix(3, {1, 2, 3}, {1}); }

TEST_F(CoarsenTest, PixelsThatNoKeptOneIsNearAreReported) {
  const BlockProblem problem(9, 9, 2, 5);
  std::vector<std::size_t> hidden;
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 9; ++x) {
      if (x > 4 && !(x == 7 && y == 7)) hidden.push_back(at_size(y * 9 + x));
    }
  }
  const BlockProblem island(9, 9, 2, 5, hidden);
  for (const BlockProblem* each : {&problem, &island}) {
    Coarsen coarsen(context_, each->stencil, 3);
    Buffer<float> gain = trial_.empty(each->rows());
    Buffer<float> kept = trial_.empty(25);
    coarsen.gains(matrix_of(context_, *each), gain, kept, 1);
    const std::vector<std::int32_t> expected = {0, each == &island ? 1 : 0, 0};
    EXPECT_EQ(coarsen.orphans().download(), expected);
    EXPECT_EQ(gain.download()[each->element(7, 7)] == 0, each == &island);
    EXPECT_THAT(gain.download(), Each(Not(::testing::IsNan())));
  }
}

}  // namespace
}  // namespace diacut::testing
