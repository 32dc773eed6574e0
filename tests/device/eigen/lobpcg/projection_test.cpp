// Projections against plain loops in double.
#include "eigen/lobpcg/projection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"

namespace diacut {
namespace {

using testing::at_size;
using testing::BlockPrecisionTest;
using testing::column_of;
using testing::expect_near;
using testing::Guarded;
using testing::precision_name;
using testing::random_values;

class ProjectionTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, ProjectionTest, ::testing::Bool(), precision_name);

TEST_P(ProjectionTest, AgreesWithPlainLoops) {
  constexpr int kColumns = 24;
  for (const int wanted : {1, 10, 24}) {
    for (const std::size_t rows : {1U, 17U, 513U, 3001U}) {
      Workspace workspace(context_, kColumns, 4000);
      Projection projection(workspace);
      const int width = workspace.narrow_columns(wanted);
      SCOPED_TRACE(::testing::Message() << width << " columns, " << rows << " rows");
      std::vector<float> x = random_values(rows * kColumns, 1);
      for (std::size_t at = 3; at < x.size(); at += kColumns) x[at] = 0;  // Takes nothing.
      const std::vector<float> w = random_values(rows * at_size(width), 2);
      Guarded<float> x_in(context_, x);
      Guarded<float> w_block(context_, w);
      projection.apply(*x_in, width, {rows, rows}, *w_block);
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

}  // namespace
}  // namespace diacut
