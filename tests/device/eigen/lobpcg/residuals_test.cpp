// Residuals against plain loops in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

class ResidualsTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, ResidualsTest, ::testing::Bool(), precision_name);

TEST_P(ResidualsTest, AreThoseOfTheSelectedColumns) {
  constexpr int kColumns = 24;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 17U, 130U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + 5};
    auto active = std::make_shared<ActiveSegments>(context_, static_cast<int>(kSegments));
    Workspace workspace(context_, kColumns, segments.pitch, active);
    Residuals residuals(workspace);
    active->set({0, 2});
    const auto to = at_size(workspace.narrow_columns(7));
    std::vector<std::int32_t> columns(2 * to, -1);
    columns[to - 1] = 23;
    for (std::size_t k = 0; k < 6; ++k)
      columns[2 * to - 1 - k] = static_cast<std::int32_t>(3 * k + 1);
    // The directions in P do not matter.
    const std::vector<std::int32_t> directions(columns.rbegin(), columns.rend());
    const std::vector<float> product = random_values(kSegments * segments.pitch * kColumns, 1);
    const std::vector<float> theta = random_values(kSegments * kColumns, 2);
    const std::vector<float> x = random_values(product.size(), 3);
    Guarded<float> product_in(context_, product);
    Guarded<float> x_in(context_, x);
    Guarded<float> r(context_, kSegments * segments.pitch * to);
    residuals.compute(*x_in, *product_in, Uploaded(context_, theta),
                      select_columns(workspace, columns, directions), segments, *r);
    const std::vector<float> found = r.values();
    EXPECT_EQ(product_in.values(), product);
    EXPECT_EQ(x_in.values(), x);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::size_t segment = at / to / segments.pitch;
      const std::size_t row = at / to;
      if (segment == 1) {
        ASSERT_TRUE(std::isnan(found[at]));  // As it was.
        continue;
      }
      const std::int32_t column = columns[segment / 2 * to + at % to];
      if (column < 0 || row % segments.pitch >= each) {
        ASSERT_EQ(found[at], 0);
        continue;
      }
      const std::size_t from = row * kColumns + at_size(column);
      const double part =
          static_cast<double>(theta[segment * kColumns + at_size(column)]) * x[from];
      ASSERT_LE(std::abs(found[at] - (product[from] - part)),
                2 * kEps * (std::abs(part) + std::abs(product[from])));
    }
  }
}

}  // namespace
}  // namespace diacut::testing
