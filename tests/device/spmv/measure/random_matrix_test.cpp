#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <set>
#include <vector>

#include "spmv/measure/measure.hpp"
#include "support.hpp"

namespace diacut {
namespace {

TEST(RandomMatrix, IsWhatTheHostComputes) {
  Context context(testing::test_device());
  for (const RandomMatrixShape& shape :
       {RandomMatrixShape{{1, 1}, 32, {{0, 0}, {1, 0}}},
        RandomMatrixShape{{7, 5}, 64, {{-1, -2}, {3, 0}}},
        RandomMatrixShape{{5, 6}, 64, {{0, 0}, {-4, 1}, {9, 9}}}}) {
    const std::size_t diagonals = shape.steps.size();
    Buffer<float> values = context.allocate<float>(shape.pitch * diagonals + 5, "a matrix");
    values.fill(-1.0f);
    random_matrix(context, shape, 3, values);
    const std::vector<float> result = values.download();
    for (std::size_t d = 0; d < diagonals; ++d) {
      for (std::size_t row = 0; row < shape.pitch; ++row) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(result[d * shape.pitch + row]),
                  std::bit_cast<std::uint32_t>(reference_random_element(shape, 3, d, row)))
            << d << ", " << row;
      }
    }
    for (std::size_t i = shape.pitch * diagonals; i < result.size(); ++i) {
      EXPECT_EQ(result[i], -1.0f);
    }
  }
}

TEST(RandomMatrix, ConnectsPixelsOfTheImageOnly) {
  const RandomMatrixShape shape{{4, 3}, 32, {{2, -1}}};
  for (std::size_t row = 0; row < shape.pitch; ++row) {
    const std::size_t x = row % 4;
    const std::size_t y = row / 4;
    const float value = reference_random_element(shape, 1, 0, row);
    if (x + 2 < 4 && y >= 1 && y < 3) {
      EXPECT_GT(value, 0.0f);
      EXPECT_LT(value, 1.0f);
    } else {
      EXPECT_EQ(value, 0.0f);
    }
  }
}

TEST(RandomMatrix, HardlyRepeats) {
  const RandomMatrixShape shape{{1000, 1}, 1024, std::vector<StencilOffset>(10)};
  std::set<float> values;
  for (std::size_t d = 0; d < 10; ++d) {
    for (std::size_t row = 0; row < 1000; ++row) {
      values.insert(reference_random_element(shape, 1, d, row));
    }
  }
  EXPECT_GT(values.size(), 9900u);
}

}  // namespace
}  // namespace diacut
