// Gains of the interpolation and coarse matrices against plain loops in double.
#include "eigen/multilevel/coarsen.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen_problem.hpp"
#include "guarded.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut::testing {
namespace {

using Problem = testing::BlockProblem;

class CoarsenTest : public BlockTest {};

/// gain of coarsen.cl, where D^1/2 is an eigenvector or where the matrix leaks.
std::vector<double> reference_gain(const Problem& problem,
                                   NullSpace null_space = NullSpace::kTrivial) {
  const std::vector<double> staying =
      reference_matvec(problem.matrix, {problem.sqrt_degree.begin(), problem.sqrt_degree.end()});
  std::vector<double> gain(problem.rows(), 0.0);
  for (int y = 0; y < problem.grid.height; ++y) {
    for (int x = 0; x < problem.grid.width; ++x) {
      const std::size_t i = problem.element(x, y);
      double sum = 0;
      for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
        const int nx = x + problem.stencil.entries[d].dx;
        const int ny = y + problem.stencil.entries[d].dy;
        if (nx < 0 || ny < 0 || nx >= problem.grid.width || ny >= problem.grid.height ||
            nx % 2 != 0 || ny % 2 != 0) {
          continue;
        }
        sum += problem.entry(d, i) * problem.sqrt_degree[problem.element(nx, ny)];
      }
      const double kept =
          null_space == NullSpace::kNone ? staying[i] : double{problem.sqrt_degree[i]};
      gain[i] = problem.sqrt_degree[i] > 0 && sum > 0 ? kept / sum : 0;
    }
  }
  return gain;
}

TEST_F(CoarsenTest, LargeCoarseMatricesAreKeptRowsTimesInterpolation) {
  // So large that a GPU's items take several diagonals; and the same values in a smaller image.
  constexpr int kWidth = 263;
  constexpr int kReach = 5;
  const Problem tall(kWidth, 257, 3, kReach, 31, {0, 77, 1000, 30000});
  const auto coarse_of = [&](const Problem& problem, std::vector<float>& gains) {
    Coarsen coarsen(context_, problem.stencil, 1);
    const NormalizedMatrix matrix = matrix_of(context_, problem);
    const int width = (kWidth + 1) / 2;
    const int height = (problem.grid.height + 1) / 2;
    auto kept = context_.allocate<float>(at_size(width * height), "kept");
    Guarded<float> gain(context_, problem.rows());
    const DiaShape shape = dia_shape(Grid{width, height, width}, problem.stencil);
    Guarded<float> coarse(context_, shape.stored());
    coarsen.gains(matrix, *gain, kept, 0);
    coarsen.matrix(matrix, *gain, *coarse, shape.pitch);
    gains = gain.values();
    HostDiaMatrix result{shape, coarse.values()};
    expect_numbers(result.values);
    return result;
  };
  std::vector<float> gain;
  const HostDiaMatrix found = coarse_of(tall, gain);
  constexpr int kCoarseWidth = (kWidth + 1) / 2;
  constexpr int kCoarseHeight = 129;
  const std::vector<StencilOffset>& entries = tall.stencil.entries;
  // Of each hop the diagonal, -1 if the disc has none.
  std::array<std::array<int, 4 * kReach + 1>, 4 * kReach + 1> diagonal{};
  for (auto& line : diagonal) line.fill(-1);
  const auto of = [&](int dx, int dy) -> int& {
    return diagonal[at_size(dy + 2 * kReach)][at_size(dx + 2 * kReach)];
  };
  for (std::size_t d = 0; d < entries.size(); ++d) {
    of(entries[d].dx, entries[d].dy) = static_cast<int>(d);
  }
  for (std::size_t d = 0; d < entries.size(); ++d) {
    for (int y = 0; y < kCoarseHeight; ++y) {
      for (int x = 0; x < kCoarseWidth; ++x) {
        const int nx = x + entries[d].dx;
        const int ny = y + entries[d].dy;
        double expected = 0;
        for (std::size_t to = 0; to < entries.size(); ++to) {
          const int mx = 2 * x + entries[to].dx;
          const int my = 2 * y + entries[to].dy;
          if (nx < 0 || nx >= kCoarseWidth || ny < 0 || ny >= kCoarseHeight || mx < 0 ||
              mx >= kWidth || my < 0 || my >= tall.grid.height || std::abs(2 * nx - mx) > kReach ||
              std::abs(2 * ny - my) > kReach) {
            continue;
          }
          const int onward = of(2 * nx - mx, 2 * ny - my);
          if (onward < 0) continue;
          const std::size_t middle = tall.element(mx, my);
          expected += static_cast<double>(
                          tall.matrix.values[to * tall.pitch() + tall.element(2 * x, 2 * y)]) *
                      gain[middle] * tall.matrix.values[at_size(onward) * tall.pitch() + middle];
        }
        const std::size_t row = at_size(y * kCoarseWidth + x);
        ASSERT_LE(std::abs(found.values[d * found.shape.pitch + row] - expected),
                  (3.0 + static_cast<double>(entries.size())) * kEps * expected)
            << "diagonal " << d << " element " << row;
      }
    }
    for (std::size_t row = found.shape.rows; row < found.shape.pitch; ++row) {
      ASSERT_EQ(found.values[d * found.shape.pitch + row], 0.0F);
    }
  }

  // What is above the last image rows of the smaller one does not know of what is below.
  constexpr int kLow = 41;
  Problem low(kWidth, kLow, 3, kReach, 31);
  low.sqrt_degree.assign(tall.sqrt_degree.begin(),
                         tall.sqrt_degree.begin() + static_cast<std::ptrdiff_t>(low.rows()));
  for (std::size_t d = 0; d < entries.size(); ++d) {
    for (int y = 0; y < kLow; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const bool leaves = y + entries[d].dy >= kLow;
        low.matrix.values[d * low.pitch() + low.element(x, y)] =
            leaves ? 0 : tall.matrix.values[d * tall.pitch() + tall.element(x, y)];
      }
    }
  }
  std::vector<float> low_gain;
  const HostDiaMatrix low_found = coarse_of(low, low_gain);
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
  Problem problem(45, 38, 0, 5, 78, {0, 300});
  const NormalizedMatrix matrix = matrix_of(context_, problem);
  Coarsen coarsen(context_, problem.stencil, 1, NullSpace::kNone);
  auto kept = context_.allocate<float>(std::size_t{23} * 19, "kept");
  Guarded<float> gain(context_, problem.rows());
  coarsen.gains(matrix, *gain, kept, 0);
  const std::vector<float> found = gain.values();
  const std::vector<double> expected = reference_gain(problem, NullSpace::kNone);
  for (std::size_t i = 0; i < found.size(); ++i) {
    // Two sums of positive terms with one rounding each, and a division.
    ASSERT_LE(std::abs(found[i] - expected[i]),
              (4.0 + 2.0 * static_cast<double>(problem.stencil.size())) * kEps * expected[i])
        << i;
  }
}

TEST_F(CoarsenTest, CoarseMatrixKeepsTheTrivialEigenvector) {
  // s = sqrt(degrees), A s = s: on the coarse grid too.
  Problem problem(45, 38, 0, 5, 77);
  const std::size_t n = problem.rows();
  std::vector<double> degree(n, 0.0);
  for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
    for (std::size_t i = 0; i < n; ++i) degree[i] += problem.matrix.values[d * problem.pitch() + i];
  }
  for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t j = static_cast<std::int64_t>(i) + problem.matrix.shape.offsets[d];
      if (j < 0 || j >= static_cast<std::int64_t>(n)) continue;
      float& value = problem.matrix.values[d * problem.pitch() + i];
      value =
          static_cast<float>(value / std::sqrt(degree[i] * degree[static_cast<std::size_t>(j)]));
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    problem.sqrt_degree[i] = static_cast<float>(std::sqrt(degree[i]));
  }
  Coarsen coarsen(context_, problem.stencil, 1);
  const NormalizedMatrix matrix = matrix_of(context_, problem);
  auto gain = context_.allocate<float>(n, "gain");
  auto kept = context_.allocate<float>(std::size_t{23} * 19, "kept");
  coarsen.gains(matrix, gain, kept, 0);
  ASSERT_EQ(coarsen.orphans().download().front(), 0);

  const CompressedProblem compressed(context_, problem);
  Problem rounded = problem;
  rounded.matrix = compressed.rounded;
  Guarded<float> rounded_gain(context_, n);
  coarsen.gains(compressed.matrix, *rounded_gain, kept, 0);
  ASSERT_EQ(coarsen.orphans().download().front(), 0);
  const std::vector<float> rounded_gains = rounded_gain.values();
  const std::vector<double> expected_gain = reference_gain(rounded);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_LE(std::abs(rounded_gains[i] - expected_gain[i]), 90 * kEps * expected_gain[i]) << i;
  }

  const Grid grid{23, 19, 23};
  HostDiaMatrix coarse{dia_shape(grid, problem.stencil), {}};
  auto coarse_values = context_.allocate<float>(coarse.shape.stored(), "coarse");
  coarsen.matrix(matrix, gain, coarse_values, coarse.shape.pitch);
  coarse.values = coarse_values.download();
  std::vector<double> s;
  for (int y = 0; y < 38; y += 2) {
    for (int x = 0; x < 45; x += 2) s.push_back(problem.sqrt_degree[problem.element(x, y)]);
  }
  const std::vector<double> product = reference_matvec(coarse, s);
  for (std::size_t i = 0; i < s.size(); ++i) ASSERT_NEAR(product[i], s[i], 200 * kEps * s[i]) << i;
}

/// A normalized matrix over two noisy halves with discs of these strides.
class StridedCoarsenTest : public BlockTest {
 protected:
  void expect_coarse_matrix(const std::vector<int>& strides, const std::vector<int>& halved) {
    SCOPED_TRACE(::testing::Message() << "largest stride " << strides.back());
    const EigenProblem problem(45, 38, 3, 0.1, {}, strides);
    const NormalizedMatrix matrix = matrix_of(context_, problem);
    Coarsen coarsen(context_, problem.stencil, 1);
    Guarded<float> gain(context_, problem.grid.rows());
    const Grid grid{23, 19, 23};
    Guarded<float> kept(context_, grid.rows());
    coarsen.gains(matrix, *gain, *kept, 0);
    ASSERT_EQ(coarsen.orphans().download().front(), 0);
    const Stencil stencil = Coarsen::coarse_stencil(problem.stencil);
    EXPECT_EQ(stencil.strides, halved);
    const DiaShape shape = dia_shape(grid, stencil);
    Guarded<float> coarse(context_, shape.stored());
    coarsen.matrix(matrix, *gain, *coarse, shape.pitch);
    const HostDiaMatrix found{shape, coarse.values()};
    expect_numbers(found.values);
    expect_rows(problem, gain.values(), found, stencil);
  }

 private:
  /// Two hops within the disc, and one hop of a larger stride between kept pixels; what leads to
  /// no kept pixel, on the main diagonal. s stays an eigenvector.
  void expect_rows(const EigenProblem& problem, const std::vector<float>& gain,
                   const HostDiaMatrix& found, const Stencil& coarse) {
    const auto a = problem.dense();
    const auto& s = problem.sqrt_degree;
    const auto fine = [](int x, int y) { return at_size(45 * y + x); };
    for (int row = 0; row < 23 * 19; ++row) {
      const int cx = row % 23;
      const int cy = row / 23;
      const std::size_t own = fine(2 * cx, 2 * cy);
      std::vector<double> expected(coarse.size(), 0.0);
      for (const StencilOffset& hop : problem.stencil.entries) {
        const int mx = 2 * cx + hop.dx;
        const int my = 2 * cy + hop.dy;
        if (mx < 0 || my < 0 || mx >= 45 || my >= 38) continue;
        const double weight = a(own, fine(mx, my));
        const auto add = [&](int nx, int ny, double value) {
          const std::size_t k = coarse.index({nx / 2 - cx, ny / 2 - cy});
          ASSERT_LT(k, coarse.size());
          expected[k] += value;
        };
        if (!problem.stencil.in_disc(hop)) {
          const bool is_kept = mx % 2 == 0 && my % 2 == 0;
          if (is_kept && coarse.index({hop.dx / 2, hop.dy / 2}) < coarse.size()) {
            add(mx, my, weight);
          } else {
            add(2 * cx, 2 * cy, weight * s[fine(mx, my)] / s[own]);
          }
          continue;
        }
        for (const StencilOffset& next : disc_stencil(3).entries) {
          const int nx = mx + next.dx;
          const int ny = my + next.dy;
          if (nx < 0 || ny < 0 || nx >= 45 || ny >= 38 || nx % 2 != 0 || ny % 2 != 0) continue;
          add(nx, ny, weight * gain[fine(mx, my)] * a(fine(mx, my), fine(nx, ny)));
        }
      }
      double product = 0;
      for (std::size_t k = 0; k < coarse.size(); ++k) {
        const float value = found.values[k * found.shape.pitch + at_size(row)];
        ASSERT_NEAR(value, expected[k], 200 * kEps * expected[k]) << "diagonal " << k;
        const int nx = cx + coarse.entries[k].dx;
        const int ny = cy + coarse.entries[k].dy;
        if (nx < 0 || ny < 0 || nx >= 23 || ny >= 19) continue;
        product += value * s[fine(2 * nx, 2 * ny)];
        const std::size_t back = coarse.opposite(k) * found.shape.pitch + at_size(23 * ny + nx);
        ASSERT_EQ(value, found.values[back]);
      }
      ASSERT_NEAR(product, s[own], 200 * kEps * s[own]) << row;
    }
  }
};

TEST_F(StridedCoarsenTest, EvenStridesAreHalvedAndOddOnesGoToTheDiagonal) {
  expect_coarse_matrix({1, 2}, {1});
  expect_coarse_matrix({1, 2, 4}, {1, 2});
  expect_coarse_matrix({1, 3}, {1});
  expect_coarse_matrix({1, 2, 3, 6}, {1, 3});
}

class TinyStridedCoarsen : public StridedCoarsenTest {};

TEST_F(TinyStridedCoarsen, MatchesTheDefinition) { expect_coarse_matrix({1, 2, 3}, {1}); }

TEST_F(CoarsenTest, PixelsThatNoKeptOneIsNearAreReported) {
  const Problem problem(9, 9, 0, 2, 5);
  std::vector<std::size_t> hidden;
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 9; ++x) {
      if (x > 4 && !(x == 7 && y == 7)) hidden.push_back(at_size(y * 9 + x));
    }
  }
  const Problem island(9, 9, 0, 2, 5, hidden);
  for (const Problem* each : {&problem, &island}) {
    Coarsen coarsen(context_, each->stencil, 3);
    Guarded<float> gain(context_, each->rows());
    Guarded<float> kept(context_, 25);
    coarsen.gains(matrix_of(context_, *each), *gain, *kept, 1);
    const std::vector<std::int32_t> expected = {0, each == &island ? 1 : 0, 0};
    EXPECT_EQ(coarsen.orphans().download(), expected);
    EXPECT_EQ(gain.values()[each->element(7, 7)] == 0, each == &island);
    expect_numbers(gain.values());
  }
}

}  // namespace
}  // namespace diacut::testing
