// The kernels of the multilevel solver against plain loops in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "block_problem.hpp"
#include "eigen/lobpcg/block_ritz.hpp"
#include "eigen/multilevel/coarsen.hpp"
#include "eigen/multilevel/level_degrees.hpp"
#include "eigen/multilevel/transfer.hpp"
#include "guarded.hpp"
#include "matrix/block_product.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/quadratic_form.hpp"
#include "matrix/symmetric_dia.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using testing::at_size;
using testing::column_of;
using testing::expect_near;
using testing::expect_numbers;
using testing::Guarded;
using testing::kEps;
using testing::random_values;
using testing::reference_interpolation;
using testing::test_device;
using Problem = testing::BlockProblem;

struct Size {
  int width, height, padding;
};
constexpr Size kSizes[] = {{1, 1, 0},   {1, 7, 0},    {7, 1, 0},  {2, 2, 0},  {3, 5, 2},
                           {8, 8, 0},   {63, 1, 1},   {13, 5, 0}, {64, 2, 7}, {65, 3, 0},
                           {31, 37, 4}, {127, 17, 0}, {67, 66, 0}};

class BlockTest : public ::testing::Test {
 protected:
  Context context_{test_device()};

  /// Widths of blocks beside the usual one: those of corrections.
  std::vector<int> widths(int usual) const {
    return {usual, 8, 16, 5 * block_vector(context_.info())};
  }

  Buffer<float> uploaded(const std::vector<float>& values) {
    auto buffer = context_.allocate<float>(std::max<std::size_t>(values.size(), 1), "values");
    if (!values.empty()) buffer.upload(values);
    return buffer;
  }
};

TEST_F(BlockTest, ProductAgreesWithPlainLoops) {
  unsigned seed = 1;
  for (const int radius : {1, 3, 5}) {
    std::optional<BlockProduct> product;
    for (const int columns : widths(24)) {
      for (const Size& size : kSizes) {
        SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << " radius "
                                          << radius << " columns " << columns);
        const Problem problem(size.width, size.height, size.padding, radius, ++seed);
        if (!product) product.emplace(context_, problem.diagonals, 24);
        const std::size_t count = problem.rows() * at_size(columns);
        const std::vector<float> x = random_values(count, ++seed);
        const std::vector<float> other = random_values(count, ++seed);
        const Buffer<float> values = uploaded(problem.matrix.values);
        Guarded<float> in(context_, x);
        Guarded<float> added(context_, other);
        Guarded<float> plain(context_, count);
        Guarded<float> fused(context_, count);
        const GridMatrix matrix(values, problem.layout);
        product->launch(matrix, *in, *in, *plain, 1, 0, 0, columns);
        product->launch(matrix, *in, *added, *fused, 0.5F, -2.0F, 3.0F, columns);
        product->launch(matrix, *in, *added, *added, 0.5F, -2.0F, 3.0F, columns);
        const std::vector<float> got = plain.values();
        const std::vector<float> got_fused = fused.values();
        EXPECT_EQ(got_fused, added.values());  // In place.
        std::vector<double> expected(count);
        std::vector<double> magnitude(count);
        std::vector<double> expected_fused(count);
        std::vector<double> magnitude_fused(count);
        for (int c = 0; c < columns; ++c) {
          std::vector<double> sums;
          const std::vector<double> result =
              reference_matvec(problem.matrix, column_of(x, columns, c), &sums);
          for (std::size_t i = 0; i < problem.rows(); ++i) {
            const std::size_t at = i * at_size(columns) + at_size(c);
            expected[at] = result[i];
            magnitude[at] = sums[i];
            expected_fused[at] = 0.5 * result[i] - 2.0 * x[at] + 3.0 * other[at];
            magnitude_fused[at] = 0.5 * sums[i] + 2.0 * std::abs(x[at]) + 3.0 * std::abs(other[at]);
          }
        }
        const double roundings = 4.0 + static_cast<double>(problem.stencil.size());
        expect_near(got, expected, magnitude, roundings);
        expect_near(got_fused, expected_fused, magnitude_fused, roundings);
      }
    }
  }
}

/// A problem's matrix compressed, on the device and as the definition has it in double.
struct CompressedProblem {
  SymmetricDia matrix;
  HostDiaMatrix rounded;
  GridLayout layout;

  CompressedProblem(Context& context, const Problem& problem) : layout(problem.layout) {
    const Grid grid{layout.width, layout.height, layout.stride};
    Guarded<float> roots(context, problem.sqrt_degree);
    Guarded<float> values(context, problem.matrix.values);
    matrix = compress_rooted(context, {problem.matrix.shape, std::move(*values)}, grid,
                             problem.stencil, MatvecStorage::kHalf, *roots);
    context.finish();
    const ReferenceSymmetric reference = reference_compress_rooted(
        problem.matrix, grid, problem.stencil, MatvecStorage::kHalf, problem.sqrt_degree);
    rounded = {reference.shape, {reference.values.begin(), reference.values.end()}};
    // What the main diagonal is worth is another test's matter.
    const std::vector<float> diagonal = matrix.diagonal.download();
    for (std::size_t row = 0; row < diagonal.size(); ++row) {
      rounded.values[problem.stencil.centre() * layout.pitch + row] = diagonal[row];
    }
  }

  GridMatrix view() const { return {matrix.upper, matrix.diagonal, matrix.layout.stride, layout}; }
};

TEST_F(BlockTest, ProductWithACompressedMatrixAgreesWithPlainLoops) {
  unsigned seed = 700;
  for (const int radius : {1, 3, 5}) {
    std::optional<BlockProduct> product;
    for (const int columns : widths(24)) {
      for (const Size& size : kSizes) {
        SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << " radius "
                                          << radius << " columns " << columns);
        const Problem problem(size.width, size.height, size.padding, radius, ++seed, {0});
        const CompressedProblem compressed(context_, problem);
        if (!product) {
          product.emplace(context_, problem.diagonals, 24, MatrixForm::kCompressed);
        }
        const std::size_t count = problem.rows() * at_size(columns);
        const std::vector<float> x = random_values(count, ++seed);
        Guarded<float> in(context_, x);
        Guarded<float> added(context_, random_values(count, ++seed));
        const std::vector<float> other = added.values();
        product->launch(compressed.view(), *in, *added, *added, 0.5F, -2.0F, 3.0F, columns);
        const std::vector<float> found = added.values();
        std::vector<double> expected(count);
        std::vector<double> magnitude(count);
        for (int c = 0; c < columns; ++c) {
          std::vector<double> sums;
          const std::vector<double> result =
              reference_matvec(compressed.rounded, column_of(x, columns, c), &sums);
          for (std::size_t i = 0; i < problem.rows(); ++i) {
            const std::size_t at = i * at_size(columns) + at_size(c);
            expected[at] = 0.5 * result[i] - 2.0 * x[at] + 3.0 * other[at];
            magnitude[at] = 0.5 * sums[i] + 2.0 * std::abs(x[at]) + 3.0 * std::abs(other[at]);
          }
        }
        expect_near(found, expected, magnitude, 4.0 + static_cast<double>(problem.stencil.size()));
      }
    }
  }
}

TEST_F(BlockTest, CompressedMatricesKeepTheirEigenvector) {
  unsigned seed = 900;
  for (const Size& size : kSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const Problem problem(size.width, size.height, size.padding, 5, ++seed, {0});
    const CompressedProblem compressed(context_, problem);
    const std::vector<float>& s = problem.sqrt_degree;
    std::vector<double> magnitude;
    const std::vector<double> product =
        reference_matvec(compressed.rounded, {s.begin(), s.end()}, &magnitude);
    for (std::size_t i = 0; i < s.size(); ++i) {
      ASSERT_LE(std::abs(product[i] - s[i]), 2 * kEps * magnitude[i]) << i;
    }
  }
}

TEST_F(BlockTest, ProductDoesNotReadOtherWithoutGamma) {
  const Problem problem(23, 19, 0, 5, 3);
  BlockProduct product(context_, problem.diagonals, 8);
  const std::vector<float> x = random_values(problem.rows() * 8, 4);
  Guarded<float> in(context_, x);
  Guarded<float> nothing(context_, problem.rows() * 8);  // NaN
  Guarded<float> out(context_, problem.rows() * 8);
  product.launch({uploaded(problem.matrix.values), problem.layout}, *in, *nothing, *out, 1, 1, 0,
                 8);
  expect_numbers(out.values());
}

/// gain of coarsen.cl.
std::vector<double> reference_gain(const Problem& problem) {
  std::vector<double> gain(problem.rows(), 0.0);
  for (int y = 0; y < problem.layout.height; ++y) {
    for (int x = 0; x < problem.layout.width; ++x) {
      const std::size_t i = problem.element(x, y);
      double sum = 0;
      for (const StencilOffset& entry : problem.stencil.entries) {
        const int nx = x + entry.dx;
        const int ny = y + entry.dy;
        if (nx < 0 || ny < 0 || nx >= problem.layout.width || ny >= problem.layout.height ||
            nx % 2 != 0 || ny % 2 != 0) {
          continue;
        }
        sum += problem.value(i, entry.dx, entry.dy) * problem.sqrt_degree[problem.element(nx, ny)];
      }
      gain[i] = problem.sqrt_degree[i] > 0 && sum > 0 ? problem.sqrt_degree[i] / sum : 0;
    }
  }
  return gain;
}

TEST_F(BlockTest, CoarseMatrixIsKeptRowsTimesInterpolation) {
  unsigned seed = 100;
  for (const Size& size : kSizes) {
    for (const int radius : {2, 5}) {
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << " radius " << radius);
      const Problem problem(size.width, size.height, size.padding, radius, ++seed);
      Coarsen coarsen(context_, problem.diagonals, 1);
      const Buffer<float> values = uploaded(problem.matrix.values);
      Guarded<float> gain(context_, problem.rows());
      const int width = (size.width + 1) / 2;
      const int height = (size.height + 1) / 2;
      Guarded<float> coarse_degree(context_, at_size(width * height));
      coarsen.gains({values, problem.layout}, uploaded(problem.sqrt_degree), *gain, *coarse_degree,
                    0);
      EXPECT_EQ(coarsen.orphans().download(), std::vector<std::int32_t>{0});
      const std::vector<float> kept = coarse_degree.values();
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          ASSERT_EQ(kept[at_size(y * width + x)],
                    problem.sqrt_degree[problem.element(2 * x, 2 * y)]);
        }
      }
      const std::vector<float> gains = gain.values();
      const std::vector<double> expected_gain = reference_gain(problem);
      for (std::size_t i = 0; i < gains.size(); ++i) {
        // One rounding a term, positive all, and a division.
        ASSERT_LE(std::abs(gains[i] - expected_gain[i]),
                  (2.0 + static_cast<double>(problem.stencil.size())) * kEps * expected_gain[i])
            << i;
      }

      const Grid coarse_grid{width, height, width};
      const DiaShape shape = dia_shape(coarse_grid, problem.stencil);
      Guarded<float> coarse(context_, shape.stored());
      coarsen.matrix(values, problem.layout, *gain, *coarse, shape.pitch);
      const std::vector<float> found = coarse.values();
      expect_numbers(found);
      for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
        for (std::size_t row = shape.rows; row < shape.pitch; ++row) {
          ASSERT_EQ(found[d * shape.pitch + row], 0.0F);
        }
      }

      const auto p = reference_interpolation(problem, gains);
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const std::size_t row = at_size(y * width + x);
          for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
            const int nx = x + problem.stencil.entries[d].dx;
            const int ny = y + problem.stencil.entries[d].dy;
            double expected = 0;
            if (nx >= 0 && nx < width && ny >= 0 && ny < height) {
              for (const StencilOffset& hop : problem.stencil.entries) {
                const int mx = 2 * x + hop.dx;
                const int my = 2 * y + hop.dy;
                if (mx < 0 || my < 0 || mx >= size.width || my >= size.height) continue;
                expected += problem.value(problem.element(2 * x, 2 * y), hop.dx, hop.dy) *
                            p[problem.element(mx, my)][at_size(ny * width + nx)];
              }
            }
            ASSERT_LE(std::abs(found[d * shape.pitch + row] - expected),
                      (3.0 + static_cast<double>(problem.stencil.size())) * kEps * expected)
                << "diagonal " << d << " element " << row;
          }
        }
      }
    }
  }
}

TEST_F(BlockTest, LargeCoarseMatricesAreKeptRowsTimesInterpolation) {
  // So large that a GPU's items take several diagonals; and the same values in a smaller image.
  constexpr int kWidth = 263;
  constexpr int kReach = 5;
  const Problem tall(kWidth, 257, 3, kReach, 31, {0, 77, 1000, 30000});
  const auto coarse_of = [&](const Problem& problem, std::vector<float>& gains) {
    Coarsen coarsen(context_, problem.diagonals, 1);
    const Buffer<float> values = uploaded(problem.matrix.values);
    const int width = (kWidth + 1) / 2;
    const int height = (problem.layout.height + 1) / 2;
    auto kept = context_.allocate<float>(at_size(width * height), "kept");
    Guarded<float> gain(context_, problem.rows());
    const DiaShape shape = dia_shape(Grid{width, height, width}, problem.stencil);
    Guarded<float> coarse(context_, shape.stored());
    coarsen.gains({values, problem.layout}, uploaded(problem.sqrt_degree), *gain, kept, 0);
    coarsen.matrix(values, problem.layout, *gain, *coarse, shape.pitch);
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
              mx >= kWidth || my < 0 || my >= tall.layout.height ||
              std::abs(2 * nx - mx) > kReach || std::abs(2 * ny - my) > kReach) {
            continue;
          }
          const int onward = of(2 * nx - mx, 2 * ny - my);
          if (onward < 0) continue;
          const std::size_t middle = tall.element(mx, my);
          expected += static_cast<double>(
                          tall.matrix.values[to * tall.layout.pitch + tall.element(2 * x, 2 * y)]) *
                      gain[middle] *
                      tall.matrix.values[at_size(onward) * tall.layout.pitch + middle];
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
        low.matrix.values[d * low.layout.pitch + low.element(x, y)] =
            leaves ? 0 : tall.matrix.values[d * tall.layout.pitch + tall.element(x, y)];
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

TEST_F(BlockTest, CoarseMatrixKeepsTheTrivialEigenvector) {
  // s = sqrt(degrees), A s = s: on the coarse grid too.
  Problem problem(45, 38, 0, 5, 77);
  const std::size_t n = problem.rows();
  std::vector<double> degree(n, 0.0);
  for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
    for (std::size_t i = 0; i < n; ++i)
      degree[i] += problem.matrix.values[d * problem.layout.pitch + i];
  }
  for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t j = static_cast<std::int64_t>(i) + problem.matrix.shape.offsets[d];
      if (j < 0 || j >= static_cast<std::int64_t>(n)) continue;
      float& value = problem.matrix.values[d * problem.layout.pitch + i];
      value =
          static_cast<float>(value / std::sqrt(degree[i] * degree[static_cast<std::size_t>(j)]));
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    problem.sqrt_degree[i] = static_cast<float>(std::sqrt(degree[i]));
  }
  Coarsen coarsen(context_, problem.diagonals, 1);
  const Buffer<float> values = uploaded(problem.matrix.values);
  auto gain = context_.allocate<float>(n, "gain");
  auto kept = context_.allocate<float>(std::size_t{23} * 19, "kept");
  coarsen.gains({values, problem.layout}, uploaded(problem.sqrt_degree), gain, kept, 0);
  ASSERT_EQ(coarsen.orphans().download().front(), 0);

  const CompressedProblem compressed(context_, problem);
  Problem rounded = problem;
  rounded.matrix = compressed.rounded;
  Guarded<float> rounded_gain(context_, n);
  coarsen.gains(compressed.view(), uploaded(problem.sqrt_degree), *rounded_gain, kept, 0);
  ASSERT_EQ(coarsen.orphans().download().front(), 0);
  const std::vector<float> rounded_gains = rounded_gain.values();
  const std::vector<double> expected_gain = reference_gain(rounded);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_LE(std::abs(rounded_gains[i] - expected_gain[i]), 90 * kEps * expected_gain[i]) << i;
  }

  const Grid grid{23, 19, 23};
  HostDiaMatrix coarse{dia_shape(grid, problem.stencil), {}};
  auto coarse_values = context_.allocate<float>(coarse.shape.stored(), "coarse");
  coarsen.matrix(values, problem.layout, gain, coarse_values, coarse.shape.pitch);
  coarse.values = coarse_values.download();
  std::vector<double> s;
  for (int y = 0; y < 38; y += 2) {
    for (int x = 0; x < 45; x += 2) s.push_back(problem.sqrt_degree[problem.element(x, y)]);
  }
  const std::vector<double> product = reference_matvec(coarse, s);
  for (std::size_t i = 0; i < s.size(); ++i) ASSERT_NEAR(product[i], s[i], 200 * kEps * s[i]) << i;
}

TEST_F(BlockTest, PixelsThatNoKeptOneIsNearAreReported) {
  const Problem problem(9, 9, 0, 2, 5);
  std::vector<std::size_t> hidden;
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 9; ++x) {
      if (x > 4 && !(x == 7 && y == 7)) hidden.push_back(at_size(y * 9 + x));
    }
  }
  const Problem island(9, 9, 0, 2, 5, hidden);
  for (const Problem* each : {&problem, &island}) {
    Coarsen coarsen(context_, each->diagonals, 3);
    Guarded<float> gain(context_, each->rows());
    Guarded<float> kept(context_, 25);
    coarsen.gains({uploaded(each->matrix.values), each->layout}, uploaded(each->sqrt_degree), *gain,
                  *kept, 1);
    const std::vector<std::int32_t> expected = {0, each == &island ? 1 : 0, 0};
    EXPECT_EQ(coarsen.orphans().download(), expected);
    EXPECT_EQ(gain.values()[each->element(7, 7)] == 0, each == &island);
    expect_numbers(gain.values());
  }
}

TEST_F(BlockTest, TransfersAgreeWithPlainLoops) {
  unsigned seed = 300;
  const int narrow = 5 * block_vector(context_.info());
  for (const auto& [columns, form] :
       {std::pair(8, MatrixForm::kDia), std::pair(24, MatrixForm::kDia),
        std::pair(narrow, MatrixForm::kDia), std::pair(8, MatrixForm::kCompressed),
        std::pair(24, MatrixForm::kCompressed), std::pair(narrow, MatrixForm::kCompressed)}) {
    for (const Size& size : kSizes) {
      SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << ", " << columns
                                        << " columns, form " << static_cast<int>(form));
      Problem problem(size.width, size.height, size.padding, 5, ++seed, {0});
      const Buffer<float> values = uploaded(problem.matrix.values);
      const CompressedProblem compressed(context_, problem);
      const bool whole = form == MatrixForm::kDia;
      if (!whole) problem.matrix = compressed.rounded;
      const GridMatrix matrix = whole ? GridMatrix(values, problem.layout) : compressed.view();
      BlockTransfer transfer(context_, problem.diagonals, 24, form);
      std::vector<float> gain = random_values(problem.rows(), ++seed);
      for (std::size_t i = 0; i < gain.size(); ++i) {
        if (i % static_cast<std::size_t>(problem.stride()) >= at_size(size.width)) gain[i] = 0;
      }
      const auto p = reference_interpolation(problem, gain);
      const std::size_t coarse_rows = at_size((size.width + 1) / 2 * ((size.height + 1) / 2));
      const auto wide = at_size(columns);
      const std::vector<float> coarse = random_values(coarse_rows * wide, ++seed);
      const std::vector<float> fine = random_values(problem.rows() * wide, ++seed);
      const Buffer<float> gains = uploaded(gain);
      Guarded<float> coarse_in(context_, coarse);
      Guarded<float> fine_in(context_, fine);
      Guarded<float> prolonged(context_, problem.rows() * wide);
      Guarded<float> added(context_, fine);
      Guarded<float> restricted(context_, coarse_rows * wide);
      transfer.prolong(matrix, gains, *coarse_in, false, *prolonged, columns);
      transfer.prolong(matrix, gains, *coarse_in, true, *added, columns);
      transfer.restrict_to(matrix, gains, *fine_in, 0.5F, *restricted, columns);
      std::vector<double> up(problem.rows() * wide, 0.0);
      std::vector<double> up_magnitude(up.size(), 0.0);
      std::vector<double> down(coarse_rows * wide, 0.0);
      std::vector<double> down_magnitude(down.size(), 0.0);
      for (std::size_t i = 0; i < problem.rows(); ++i) {
        for (std::size_t j = 0; j < coarse_rows; ++j) {
          if (p[i][j] == 0) continue;
          for (std::size_t c = 0; c < wide; ++c) {
            up[i * wide + c] += p[i][j] * coarse[j * wide + c];
            up_magnitude[i * wide + c] += std::abs(p[i][j] * coarse[j * wide + c]);
            down[j * wide + c] += 0.5 * p[i][j] * fine[i * wide + c];
            down_magnitude[j * wide + c] += std::abs(0.5 * p[i][j] * fine[i * wide + c]);
          }
        }
      }
      const double roundings = 4.0 + static_cast<double>(problem.stencil.size());
      expect_near(prolonged.values(), up, up_magnitude, roundings);
      expect_near(restricted.values(), down, down_magnitude, roundings);
      for (std::size_t i = 0; i < up.size(); ++i) {
        up[i] += fine[i];
        up_magnitude[i] += std::abs(fine[i]);
      }
      expect_near(added.values(), up, up_magnitude, roundings);
    }
  }
}

class BlockRitzTest : public BlockTest, public ::testing::WithParamInterface<bool> {
 protected:
  BlockRitzTest() {
    if (!GetParam()) context_.disable_fp64();
  }
};

TEST_P(BlockRitzTest, GramMatricesAgreeWithPlainLoops) {
  unsigned seed = 500;
  for (const auto& [columns, wanted] :
       {std::pair(8, 8), std::pair(24, 24), std::pair(24, 1), std::pair(24, 10)}) {
    for (const std::size_t rows : {1U, 31U, 33U, 64U, 513U, 3001U}) {
      BlockRitz kernels(context_, columns, 4000);
      const int width = kernels.correction_columns(wanted);
      SCOPED_TRACE(::testing::Message()
                   << columns << " and " << width << " columns, " << rows << " rows");
      const std::array<int, 3> wide = {columns, width, width};
      std::vector<std::vector<float>> host;
      std::vector<Guarded<float>> blocks;
      blocks.reserve(6);
      for (std::size_t b = 0; b < 6; ++b) {
        host.push_back(random_values(rows * at_size(wide[b % 3]), ++seed));
        blocks.emplace_back(context_, host.back());
      }
      // Of each column of S its block and its place there.
      std::vector<std::pair<int, int>> place;
      for (int b = 0; b < 3; ++b) {
        for (int k = 0; k < wide[at_size(b)]; ++k) place.emplace_back(b, k);
      }
      // All products, and only some; a bit each.
      for (const auto& [used, known] : {std::pair(1, 1), std::pair(2, 3), std::pair(3, 7),
                                        std::pair(2, 2), std::pair(3, 2), std::pair(3, 6)}) {
        SCOPED_TRACE(::testing::Message() << used << " blocks, products " << known);
        const auto product_of = [&, given = known](int b) {
          return (given >> b & 1) != 0 ? &*blocks[at_size(3 + b)] : nullptr;
        };
        const std::vector<BlockRitz::Gram> grams =
            kernels.gram({&*blocks[0], &*blocks[1], &*blocks[2]},
                         {product_of(0), product_of(1), product_of(2)}, used, width, {rows, rows});
        ASSERT_EQ(grams.size(), 1U);
        const BlockRitz::Gram& gram = grams.front();
        ASSERT_EQ(gram.side, columns + (used - 1) * width);
        for (int i = 0; i < gram.side; ++i) {
          for (int j = i; j < gram.side; ++j) {
            const std::size_t at = at_size(i * gram.side + j);
            for (const int product : {0, 3}) {
              // Of a product that is not given, the other one.
              const bool turned = product == 3 && product_of(place[at_size(j)].first) == nullptr;
              if (turned && product_of(place[at_size(i)].first) == nullptr) {
                ASSERT_EQ(gram.with_product[at], 0);
                continue;
              }
              const auto [left_block, left_column] = place[at_size(turned ? j : i)];
              const auto [right_block, right_column] = place[at_size(turned ? i : j)];
              const auto left =
                  column_of(host[at_size(left_block)], wide[at_size(left_block)], left_column);
              const auto right = column_of(host[at_size(product + right_block)],
                                           wide[at_size(right_block)], right_column);
              double sum = 0;
              double magnitude = 0;
              for (std::size_t row = 0; row < rows; ++row) {
                sum += left[row] * right[row];
                magnitude += std::abs(left[row] * right[row]);
              }
              // In tiles on the diagonal both halves are computed, and the later one is kept.
              const auto& found = product == 0 ? gram.with_self : gram.with_product;
              const bool same_tile =
                  left_block == right_block && left_column / 8 == right_column / 8 && product == 3;
              if (same_tile && i != j) continue;
              ASSERT_LE(std::abs(found[at] - sum), 34 * kEps * magnitude) << i << ", " << j;
              EXPECT_EQ(found[at], found[at_size(j * gram.side + i)]);
            }
          }
        }
      }
    }
  }
}

TEST_P(BlockRitzTest, ProjectionsAgreeWithPlainLoops) {
  constexpr int kColumns = 24;
  for (const int wanted : {1, 10, 24}) {
    for (const std::size_t rows : {1U, 17U, 513U, 3001U}) {
      BlockRitz kernels(context_, kColumns, 4000);
      const int width = kernels.correction_columns(wanted);
      SCOPED_TRACE(::testing::Message() << width << " columns, " << rows << " rows");
      std::vector<float> x = random_values(rows * kColumns, 1);
      for (std::size_t at = 3; at < x.size(); at += kColumns) x[at] = 0;  // Takes nothing.
      const std::vector<float> w = random_values(rows * at_size(width), 2);
      Guarded<float> x_in(context_, x);
      Guarded<float> w_block(context_, w);
      kernels.project(*x_in, width, {rows, rows}, *w_block);
      std::vector<double> expected(w.begin(), w.end());
      std::vector<double> magnitude(w.size());
      for (std::size_t at = 0; at < w.size(); ++at) magnitude[at] = std::abs(w[at]);
      for (int k = 0; k < width; ++k) {
        const std::vector<double> own = column_of(w, width, k);
        for (int c = 0; c < kColumns; ++c) {
          const std::vector<double> from = column_of(x, kColumns, c);
          double dot = 0;
          double dot_magnitude = 0;
          double norm = 0;
          for (std::size_t row = 0; row < rows; ++row) {
            dot += from[row] * own[row];
            dot_magnitude += std::abs(from[row] * own[row]);
            norm += from[row] * from[row];
          }
          if (norm == 0) continue;
          for (std::size_t row = 0; row < rows; ++row) {
            const std::size_t at = row * at_size(width) + at_size(k);
            expected[at] -= dot / norm * from[row];
            magnitude[at] += dot_magnitude / norm * std::abs(from[row]);
          }
        }
      }
      // 34 roundings of a dot product and of a norm, each one more as they become floats, one of
      // the quotient, and a sum of 25 terms.
      expect_near(w_block.values(), expected, magnitude, 2 * (34 + 1) + 1 + 25);
      EXPECT_EQ(x_in.values(), x);
    }
  }
}

TEST_F(BlockTest, GatheredColumnsAreThoseAskedFor) {
  constexpr int kColumns = 24;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 17U, 130U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + 5};
    auto active = std::make_shared<ActiveSegments>(context_, static_cast<int>(kSegments));
    BlockRitz kernels(context_, kColumns, segments.pitch, active);
    active->set({0, 2});
    const auto to = at_size(kernels.correction_columns(7));
    const std::vector<float> in = random_values(kSegments * segments.pitch * kColumns, 1);
    std::vector<std::int32_t> columns(2 * to, -1);
    for (std::size_t k = 0; k < 6; ++k) columns[k] = static_cast<std::int32_t>(3 * k + 1);
    columns[to] = 23;
    Guarded<float> block(context_, in);
    Guarded<float> out(context_, kSegments * segments.pitch * to);
    // Those of rest() are others.
    const std::vector<std::int32_t> reversed(columns.rbegin(), columns.rend());
    kernels.choose(reversed, columns);
    kernels.gather(*block, kColumns, static_cast<int>(to), segments, *out);
    const std::vector<float> found = out.values();

    const std::vector<float> theta = random_values(kSegments * kColumns, 2);
    const std::vector<float> x = random_values(in.size(), 3);
    Guarded<float> x_in(context_, x);
    Guarded<float> rest(context_, found.size());
    kernels.step(theta);
    kernels.rest(*x_in, *block, static_cast<int>(to), segments, *rest);
    const std::vector<float> rests = rest.values();
    EXPECT_EQ(block.values(), in);
    EXPECT_EQ(x_in.values(), x);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::size_t segment = at / to / segments.pitch;
      const std::size_t row = at / to;
      if (segment == 1) {
        ASSERT_TRUE(std::isnan(found[at]));  // As it was.
        ASSERT_TRUE(std::isnan(rests[at]));
        continue;
      }
      const std::int32_t column = columns[segment / 2 * to + at % to];
      const bool exists = column >= 0 && row % segments.pitch < each;
      ASSERT_EQ(found[at], exists ? in[row * kColumns + at_size(column)] : 0);
      const std::int32_t of_rest = reversed[segment / 2 * to + at % to];
      if (of_rest < 0 || row % segments.pitch >= each) {
        ASSERT_EQ(rests[at], 0);
        continue;
      }
      const std::size_t from = row * kColumns + at_size(of_rest);
      const double part =
          static_cast<double>(theta[segment * kColumns + at_size(of_rest)]) * x[from];
      ASSERT_LE(std::abs(rests[at] - (in[from] - part)),
                2 * kEps * (std::abs(part) + std::abs(in[from])));
    }
  }
}

TEST_P(BlockRitzTest, ResidualsAgreeWithPlainLoops) {
  constexpr int kColumns = 24;
  for (const std::size_t rows : {1U, 33U, 513U, 3001U}) {
    SCOPED_TRACE(rows);
    const std::size_t count = rows * kColumns;
    BlockRitz kernels(context_, kColumns, 4000);
    const std::vector<float> x = random_values(count, 1);
    const std::vector<float> ax = random_values(count, 2);
    const std::vector<float> theta = random_values(kColumns, 3);
    Guarded<float> x_in(context_, x);
    Guarded<float> product(context_, ax);
    kernels.step(theta);
    const std::vector<double> norms = kernels.residual(*x_in, {rows, rows}, *product);
    ASSERT_EQ(norms.size(), at_size(kColumns));
    EXPECT_EQ(product.values(), ax);
    std::vector<double> squares(kColumns, 0.0);
    std::vector<double> rounded(kColumns, 0.0);  // What of the norm the two roundings may make.
    for (std::size_t i = 0; i < count; ++i) {
      const double part = static_cast<double>(theta[i % kColumns]) * x[i];
      squares[i % kColumns] += (ax[i] - part) * (ax[i] - part);
      const double lost = 2 * kEps * (std::abs(part) + std::abs(ax[i]));
      rounded[i % kColumns] += lost * lost;
    }
    for (std::size_t c = 0; c < kColumns; ++c) {
      EXPECT_NEAR(norms[c], std::sqrt(squares[c]),
                  34 * kEps * std::sqrt(squares[c]) + std::sqrt(rounded[c]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Precision, BlockRitzTest, ::testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "Double" : "Compensated");
});

TEST_F(BlockTest, CombinationsAgreeWithPlainLoops) {
  for (const auto& [columns, wanted] :
       {std::pair(8, 8), std::pair(24, 24), std::pair(24, 3), std::pair(128, 128)}) {
    for (const std::size_t rows : {1U, 15U, 17U, 200U}) {
      const auto wide = at_size(columns);
      BlockRitz kernels(context_, columns, rows);
      const auto width = at_size(kernels.correction_columns(wanted));
      SCOPED_TRACE(::testing::Message()
                   << columns << " and " << width << " columns, " << rows << " rows");
      // Every other column, as long as there is room for another one.
      std::vector<std::int32_t> places(wide + 1, -1);
      std::int32_t kept = 0;
      for (std::size_t c = 1; c < wide && kept + 1 < static_cast<std::int32_t>(width); c += 2) {
        places[c] = kept++;
      }
      places[wide] = kept;
      for (int used = 1; used <= 3; ++used) {
        const std::vector<float> x = random_values(rows * wide, 1);
        const std::vector<float> w = random_values(rows * width, 2);
        std::vector<float> p = random_values(rows * width, 3);
        if (used < 3) std::fill(p.begin(), p.end(), NAN);
        const std::vector<float> q = random_values((wide + at_size(used - 1) * width) * wide, 4);
        Guarded<float> x_block(context_, x);
        Guarded<float> w_block(context_, w);
        Guarded<float> p_block(context_, p);
        Guarded<float> out(context_, rows * width);
        kernels.step(std::vector<float>(wide, NAN), places, q);
        kernels.combine({&*x_block, &*w_block, &*p_block}, used, static_cast<int>(width),
                        {rows, rows}, *out);
        std::vector<double> direction(rows * width, 0.0);
        std::vector<double> direction_magnitude(rows * width, 0.0);
        std::vector<double> sum(rows * wide, 0.0);
        std::vector<double> sum_magnitude(rows * wide, 0.0);
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t to = 0; to < wide; ++to) {
            const std::size_t at = row * wide + to;
            for (int b = 0; b < used; ++b) {
              const std::vector<float>& from = b == 0 ? x : b == 1 ? w : p;
              const std::size_t own = b == 0 ? wide : width;
              const std::size_t before = b == 0 ? 0 : wide + at_size(b - 1) * width;
              for (std::size_t c = 0; c < own; ++c) {
                const double term =
                    static_cast<double>(from[row * own + c]) * q[(before + c) * wide + to];
                sum[at] += term;
                sum_magnitude[at] += std::abs(term);
                if (b == 0 || places[to] < 0) continue;
                direction[row * width + at_size(places[to])] += term;
                direction_magnitude[row * width + at_size(places[to])] += std::abs(term);
              }
            }
          }
        }
        expect_near(x_block.values(), sum, sum_magnitude, 3.0 * columns + 2);
        EXPECT_EQ(w_block.values(), w);
        if (used > 1) {
          expect_near(out.values(), direction, direction_magnitude, 3.0 * columns + 2);
        }
      }
    }
  }
}

TEST_F(BlockTest, DenseProductsAndColumnsAgreeWithPlainLoops) {
  constexpr int kColumns = 24;
  for (const std::size_t rows : {1U, 17U, 130U}) {
    SCOPED_TRACE(rows);
    BlockRitz kernels(context_, kColumns, rows);
    std::vector<float> m = random_values(rows * rows, 1);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < i; ++j) m[i * rows + j] = m[j * rows + i];
    }
    const std::vector<float> b = random_values(rows * kColumns, 2);
    Guarded<float> m_in(context_, m);
    Guarded<float> b_in(context_, b);
    Guarded<float> out(context_, rows * kColumns);
    kernels.dense(*m_in, rows, *b_in, *out, kColumns);
    std::vector<double> expected(rows * kColumns, 0.0);
    std::vector<double> magnitude(rows * kColumns, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t c = 0; c < kColumns; ++c) {
          const double term = static_cast<double>(m[i * rows + j]) * b[j * kColumns + c];
          expected[i * kColumns + c] += term;
          magnitude[i * kColumns + c] += std::abs(term);
        }
      }
    }
    expect_near(out.values(), expected, magnitude, static_cast<double>(rows) + 2);

    const std::vector<float> vector = random_values(rows, 3);
    Guarded<float> vector_in(context_, vector);
    kernels.insert(*vector_in, uploaded({7, 2}), 1, rows, 5, *b_in);
    const std::vector<float> inserted = b_in.values();
    const std::size_t pitch = round_up(rows, 32) + 32;
    Guarded<float> basis(context_, 7 * pitch);
    const std::vector<std::int32_t> wanted = {1, 2, 3, 7, -5, 6, 4};
    kernels.columns_wanted(wanted);
    kernels.extract(*b_in, 0, rows, 0, 7, pitch, *basis);
    const std::vector<float> extracted = basis.values();
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        ASSERT_EQ(inserted[i * kColumns + c], c == 5 ? 2 * vector[i] : b[i * kColumns + c]);
      }
    }
    for (std::size_t c = 0; c < 7; ++c) {
      for (std::size_t i = 0; i < pitch; ++i) {
        constexpr std::size_t kFrom[] = {0, 1, 2, 6, 4, 5, 3};
        const float sign = c == 4 ? -1.0F : 1.0F;
        ASSERT_EQ(extracted[c * pitch + i],
                  i < rows ? sign * inserted[i * kColumns + kFrom[c]] : 0);
      }
    }
  }
}

TEST_P(BlockRitzTest, QuadraticFormsAndPeaksAgreeWithPlainLoops) {
  constexpr int kColumns = 16;
  unsigned seed = 900;
  for (const Size& size : kSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const Problem problem(size.width, size.height, size.padding, 5, ++seed);
    const std::size_t rows = problem.rows();
    BlockRitz kernels(context_, kColumns, rows);
    const std::vector<float> x = random_values(rows * kColumns, ++seed);
    Guarded<float> x_in(context_, x);
    Guarded<float> s_in(context_, problem.sqrt_degree);
    Guarded<float> y_in(context_, rows * kColumns);
    kernels.divide(*x_in, *s_in, rows, *y_in);
    const std::vector<float> y = y_in.values();
    for (std::size_t at = 0; at < y.size(); ++at) {
      const float s = problem.sqrt_degree[at / kColumns];
      // OpenCL's division is right to 2.5 units in the last place.
      ASSERT_NEAR(y[at], s > 0 ? x[at] / s : 0, 2.5 * kEps * std::abs(y[at]));
    }
    const CompressedProblem compressed(context_, problem);
    const std::vector<cl_int2> upper =
        upper_diagonals(problem.matrix.shape.offsets, problem.matrix.shape.rows);
    const Buffer<float> values = uploaded(problem.matrix.values);
    const auto check = [&](const HostDiaMatrix& matrix, const GridMatrix& on_device) {
      std::vector<double> expected(kColumns, 0.0);
      for (const cl_int2& each : upper) {
        for (std::size_t i = 0; i + at_size(each.s[1]) < rows; ++i) {
          const std::size_t j = i + at_size(each.s[1]);
          const double weight =
              static_cast<double>(matrix.values[at_size(each.s[0]) * problem.layout.pitch + i]) *
              problem.sqrt_degree[i] * problem.sqrt_degree[j];
          for (std::size_t c = 0; c < kColumns; ++c) {
            const double difference =
                static_cast<double>(y[i * kColumns + c]) - y[j * kColumns + c];
            expected[c] += weight * difference * difference;
          }
        }
      }
      auto parts = context_.allocate<float>(rows * kColumns, "parts of sums");
      const std::vector<double> found =
          kernels.quadratic_form(on_device, problem.diagonals, *s_in, *y_in, {rows, rows}, parts);
      ASSERT_EQ(found.size(), at_size(kColumns));
      for (std::size_t c = 0; c < kColumns; ++c) {
        // Positive terms; of each a difference's rounding counts twice beside some of products.
        const auto terms = static_cast<double>(upper.size());
        EXPECT_NEAR(found[c], expected[c], (8 + terms) * kEps * expected[c]) << c;
      }
    };
    check(problem.matrix, {values, problem.layout});
    check(compressed.rounded, compressed.view());
    const std::vector<float> peaks = kernels.peaks(*x_in, {rows, rows}, *y_in);
    for (std::size_t c = 0; c < kColumns; ++c) {
      float peak = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        const float value = x[i * kColumns + c];
        if (std::abs(value) > std::abs(peak)) peak = value;
      }
      EXPECT_EQ(peaks[c], peak);
    }
  }
}

TEST_F(BlockTest, PeaksAreTheFirstOfEquals) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 2;
  for (const std::size_t each : {1U, 65U, 10007U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + 3};
    BlockRitz kernels(context_, kColumns, segments.pitch,
                      std::make_shared<const ActiveSegments>(context_, kSegments));
    // Few values, the largest ones late.
    std::vector<float> x = random_values(kSegments * segments.pitch * kColumns, 17);
    for (std::size_t at = 0; at < x.size(); ++at) {
      const std::size_t row = at / kColumns % segments.pitch;
      x[at] = row < each ? std::round(std::clamp(x[at], -1.0F, 1.0F)) : NAN;
      if (row < each && row >= each / 3 * 2) x[at] *= 2;
    }
    Guarded<float> in(context_, x);
    Guarded<float> spare(context_, x.size());
    const std::vector<float> found = kernels.peaks(*in, segments, *spare);
    ASSERT_EQ(found.size(), kSegments * kColumns);
    for (std::size_t k = 0; k < kSegments; ++k) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        float peak = 0;
        for (std::size_t i = 0; i < each; ++i) {
          const float value = x[(k * segments.pitch + i) * kColumns + c];
          if (std::abs(value) > std::abs(peak)) peak = value;
        }
        EXPECT_EQ(found[k * kColumns + c], peak) << k << ", " << c;
      }
    }
  }
}

TEST_P(BlockRitzTest, DegreesOfAllLevelsAgreeWithPlainLoops) {
  constexpr int kLevels = 4;
  constexpr int kImages = 3;
  for (const Size& size : kSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const int stride = size.width + size.padding;
    const std::size_t pitch = at_size(stride * (size.height + 2));
    std::vector<float> all = random_values(kImages * pitch, 41);
    // Around the images is nobody's business; few of the middle one's have data, none of the
    // last's.
    for (std::size_t at = 0; at < all.size(); ++at) {
      const std::size_t inside = at % pitch;
      const bool exists = inside % at_size(stride) < at_size(size.width) &&
                          inside / at_size(stride) < at_size(size.height);
      const std::size_t image = at / pitch;
      if (image == 2 || (image == 1 && at % 3 != 0)) all[at] = 0;
      if (!exists) all[at] = NAN;
    }
    Guarded<float> in(context_, all);
    const LevelDegrees found =
        level_degrees(context_, *in, size.width, size.height, stride, pitch, kImages, kLevels);
    const std::vector<float> scales = found.scales.download();
    const std::vector<std::uint32_t> counts = found.counts.download();
    ASSERT_EQ(scales.size(), at_size(kLevels * kImages));
    ASSERT_EQ(counts.size(), scales.size());
    for (int image = 0; image < kImages; ++image) {
      const float* own = all.data() + at_size(image) * pitch;
      for (int level = 0; level < kLevels; ++level) {
        const int step = 1 << level;
        double sum = 0;
        std::uint32_t count = 0;
        for (int y = 0; y < size.height; y += step) {
          for (int x = 0; x < size.width; x += step) {
            const double value = own[at_size(y * stride + x)];
            sum += value * value;
            count += value > 0 ? 1 : 0;
          }
        }
        const std::size_t at = at_size(level * kImages + image);
        EXPECT_EQ(counts[at], count) << "image " << image << " level " << level;
        // The nearest float, or its neighbour where the sum is between two.
        const double scale = 1 / std::sqrt(sum);
        if (std::isinf(scale)) {
          EXPECT_EQ(scales[at], INFINITY);
        } else {
          EXPECT_NEAR(scales[at], scale, 0.51 * kEps * scale);
        }
      }
    }
    // Alone as in company.
    const std::vector<float> second(all.begin() + static_cast<std::ptrdiff_t>(pitch),
                                    all.begin() + static_cast<std::ptrdiff_t>(2 * pitch));
    const LevelDegrees alone = level_degrees(context_, *Guarded<float>(context_, second),
                                             size.width, size.height, stride, pitch, 1, kLevels);
    const std::vector<float> alone_scales = alone.scales.download();
    for (int level = 0; level < kLevels; ++level) {
      EXPECT_EQ(alone_scales[at_size(level)], scales[at_size(level * kImages + 1)]);
    }
  }
}

TEST_P(BlockRitzTest, SegmentsAreWorkedOnAsIfEachWereAlone) {
  constexpr int kColumns = 24;
  constexpr std::size_t kSegments = 3;
  constexpr std::size_t kGap = 5;
  unsigned seed = 70;
  for (const std::size_t each : {1U, 17U, 100U, 1301U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + kGap};
    const std::size_t count = each * kColumns;
    const std::size_t pitch = segments.pitch * kColumns;
    BlockRitz together(context_, kColumns, segments.pitch,
                       std::make_shared<const ActiveSegments>(context_, kSegments));
    BlockRitz alone(context_, kColumns, each);
    std::vector<std::vector<float>> host;
    std::vector<Guarded<float>> blocks;
    blocks.reserve(6);
    for (int b = 0; b < 6; ++b) {
      host.push_back(random_values(kSegments * pitch, ++seed));
      for (std::size_t at = 0; at < host.back().size(); ++at) {
        if (at % pitch >= count) host.back()[at] = NAN;  // Nobody's business.
      }
      blocks.emplace_back(context_, host.back());
    }
    const auto part = [](const std::vector<float>& whole, std::size_t first, std::size_t size) {
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    const std::vector<float> theta = random_values(kSegments * kColumns, ++seed);
    const std::vector<float> rotation = random_values(kSegments * 3 * kColumns * kColumns, ++seed);
    const std::array<Buffer<float>*, 3> s = {&*blocks[0], &*blocks[1], &*blocks[2]};
    const std::array<Buffer<float>*, 3> as = {&*blocks[3], &*blocks[4], &*blocks[5]};
    const auto grams = together.gram(s, as, 3, kColumns, segments);
    together.step(theta);
    const auto norms = together.residual(*s[0], segments, *blocks[3]);
    const auto peaks = together.peaks(*s[0], segments, *blocks[4]);
    std::vector<std::int32_t> places(kColumns + 1, 0);
    std::iota(places.begin(), places.end(), 0);
    std::vector<std::int32_t> all_places;
    for (std::size_t k = 0; k < kSegments; ++k) {
      all_places.insert(all_places.end(), places.begin(), places.end());
    }
    together.project(*s[0], kColumns, segments, *s[1]);
    const std::vector<float> projected = s[1]->download();
    together.step(theta, all_places, rotation);
    together.combine(s, 3, kColumns, segments, *blocks[5]);
    const std::vector<float> combined = (*blocks[0]).download();
    const std::vector<float> directions = (*blocks[5]).download();
    ASSERT_EQ(grams.size(), kSegments);
    for (std::size_t k = 0; k < kSegments; ++k) {
      std::vector<Guarded<float>> own;
      own.reserve(6);
      for (int b = 0; b < 6; ++b) {
        own.emplace_back(context_, part(host[at_size(b)], k * pitch, count));
      }
      const std::array<Buffer<float>*, 3> own_s = {&*own[0], &*own[1], &*own[2]};
      const auto gram =
          alone.gram(own_s, {&*own[3], &*own[4], &*own[5]}, 3, kColumns, {each, each}).front();
      EXPECT_EQ(grams[k].with_self, gram.with_self);
      EXPECT_EQ(grams[k].with_product, gram.with_product);
      const auto own_theta = part(theta, k * kColumns, kColumns);
      alone.step(own_theta);
      const auto own_norms = alone.residual(*own[0], {each, each}, *own[3]);
      const auto own_peaks = alone.peaks(*own[0], {each, each}, *own[4]);
      for (std::size_t c = 0; c < kColumns; ++c) {
        EXPECT_EQ(norms[k * kColumns + c], own_norms[c]);
        EXPECT_EQ(peaks[k * kColumns + c], own_peaks[c]);
      }
      alone.project(*own[0], kColumns, {each, each}, *own[1]);
      EXPECT_EQ(part(projected, k * pitch, count), own[1].values());
      const auto own_rotation =
          part(rotation, k * 3 * kColumns * kColumns, std::size_t{3} * kColumns * kColumns);
      alone.step(own_theta, places, own_rotation);
      alone.combine(own_s, 3, kColumns, {each, each}, *own[5]);
      EXPECT_EQ(part(combined, k * pitch, count), own[0].values());
      EXPECT_EQ(part(directions, k * pitch, count), own[5].values());
    }
  }
}

TEST_F(BlockTest, SegmentsHaveMatricesAndFactorsOfTheirOwn) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 30U, 77U}) {
    SCOPED_TRACE(each);
    const std::size_t count = each * kColumns;
    BlockRitz kernels(context_, kColumns, each,
                      std::make_shared<const ActiveSegments>(context_, kSegments));
    std::vector<float> matrices = random_values(kSegments * each * each, 1);
    for (std::size_t k = 0; k < kSegments; ++k) {
      float* own = matrices.data() + k * each * each;
      for (std::size_t i = 0; i < each; ++i) {
        for (std::size_t j = 0; j < i; ++j) own[i * each + j] = own[j * each + i];
      }
    }
    const std::vector<float> b = random_values(kSegments * count, 2);
    const std::vector<float> vector = random_values(kSegments * each, 3);
    Guarded<float> m_in(context_, matrices);
    Guarded<float> b_in(context_, b);
    Guarded<float> out(context_, kSegments * count);
    kernels.dense(*m_in, kSegments * each, *b_in, *out, kColumns);
    const std::vector<float> product = out.values();
    kernels.insert(*Guarded<float>(context_, vector), uploaded({5, 6, 1, 2, -3}), 2,
                   kSegments * each, 7, *b_in);
    const std::vector<float> inserted = b_in.values();
    const float factors[] = {1, 2, -3};
    for (std::size_t at = 0; at < product.size(); ++at) {
      const std::size_t k = at / count;
      const std::size_t row = at / kColumns % each;
      const std::size_t c = at % kColumns;
      double expected = 0;
      double magnitude = 0;
      for (std::size_t j = 0; j < each; ++j) {
        const double term = static_cast<double>(matrices[(k * each + row) * each + j]) *
                            b[k * count + j * kColumns + c];
        expected += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(product[at], expected, (static_cast<double>(each) + 2) * kEps * magnitude);
      ASSERT_EQ(inserted[at], c == 7 ? factors[k] * vector[at / kColumns] : b[at]);
    }
    // The middle one alone, its last column turned.
    const std::vector<std::int32_t> wanted = {1, 2, 3, -8, 1, 2, 3, 4, 5, 6, 7, 8,
                                              1, 2, 3, 4,  5, 6, 7, 8, 1, 1, 1, 1};
    kernels.columns_wanted(wanted);
    Guarded<float> basis(context_, 2 * 96);
    kernels.extract(*b_in, each, each, 2, 2, 96, *basis);
    const std::vector<float> found = basis.values();
    for (std::size_t i = 0; i < each; ++i) {
      ASSERT_EQ(found[i], inserted[count + i * kColumns + 2]);
      ASSERT_EQ(found[96 + i], -inserted[count + i * kColumns + 7]);
    }
  }
}

}  // namespace
}  // namespace diacut
