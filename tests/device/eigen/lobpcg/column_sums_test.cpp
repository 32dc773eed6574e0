// Sums of the columns of a block against plain loops in double.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

class ColumnSumsTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, ColumnSumsTest, ::testing::Bool(), precision_name);

TEST_P(ColumnSumsTest, AgreeWithPlainLoops) {
  constexpr int kColumns = 16;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 33U, 513U, 3001U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + 5};
    auto active = std::make_shared<ActiveSegments>(context_, static_cast<int>(kSegments));
    Workspace workspace(context_, kColumns, segments.pitch, active);
    active->set({0, 2});
    std::vector<float> x = random_values(kSegments * segments.pitch * kColumns, 5);
    for (std::size_t row = 0; row < kSegments * segments.pitch; ++row) {
      // Neither what is between images nor an image that is not active may be read.
      const bool read = row % segments.pitch < each && row / segments.pitch != 1;
      for (std::size_t c = 0; c < kColumns && !read; ++c) x[row * kColumns + c] = NAN;
    }
    Guarded<float> x_in(context_, x);
    ColumnSums sums(workspace);
    const std::vector<double> found = sums.compute(*x_in, segments);
    ASSERT_EQ(found.size(), 2 * at_size(kColumns));
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        double expected = 0;
        double magnitude = 0;
        for (std::size_t i = 0; i < each; ++i) {
          const double value = x[(2 * k * segments.pitch + i) * kColumns + c];
          expected += value;
          magnitude += std::abs(value);
        }
        // 32 roundings of a sum in float.
        EXPECT_NEAR(found[k * kColumns + c], expected, 32 * kEps * magnitude) << k << ", " << c;
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
