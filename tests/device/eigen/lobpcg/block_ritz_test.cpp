// The kernels of a Rayleigh-Ritz step against plain loops in double.
#include "eigen/lobpcg/block_ritz.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"
#include "matrix/quadratic_form.hpp"

namespace diacut {
namespace {

using testing::at_size;
using testing::BlockPrecisionTest;
using testing::BlockSize;
using testing::BlockTest;
using testing::column_of;
using testing::CompressedProblem;
using testing::expect_near;
using testing::Guarded;
using testing::kBlockSizes;
using testing::kEps;
using testing::precision_name;
using testing::random_values;
using Problem = testing::BlockProblem;

class BlockRitzTest : public BlockTest {};
class BlockRitzPrecisionTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, BlockRitzPrecisionTest, ::testing::Bool(), precision_name);

TEST_P(BlockRitzPrecisionTest, GramMatricesAgreeWithPlainLoops) {
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

TEST_P(BlockRitzPrecisionTest, ProjectionsAgreeWithPlainLoops) {
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

TEST_P(BlockRitzPrecisionTest, ResidualsAgreeWithPlainLoops) {
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

TEST_F(BlockRitzTest, CombinationsAgreeWithPlainLoops) {
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

TEST_F(BlockRitzTest, DenseProductsAndColumnsAgreeWithPlainLoops) {
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

TEST_P(BlockRitzPrecisionTest, QuadraticFormsAndPeaksAgreeWithPlainLoops) {
  constexpr int kColumns = 16;
  unsigned seed = 900;
  for (const BlockSize& size : kBlockSizes) {
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

}  // namespace
}  // namespace diacut
