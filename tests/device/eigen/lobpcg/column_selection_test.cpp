// The columns that soft locking goes on with.
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

class ColumnSelectionTest : public BlockTest {};

TEST_F(ColumnSelectionTest, GathersTheColumnsOfTheDirections) {
  constexpr int kColumns = 24;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 17U, 130U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + 5};
    auto active = std::make_shared<ActiveSegments>(context_, static_cast<int>(kSegments));
    Workspace workspace(context_, kColumns, segments.pitch, active);
    ColumnGather gather(workspace);
    active->set({0, 2});
    const auto to = at_size(workspace.narrow_columns(7));
    std::vector<std::int32_t> directions(2 * to, -1);
    for (std::size_t k = 0; k < 6; ++k) directions[k] = static_cast<std::int32_t>(3 * k + 1);
    directions[to] = 23;
    // The columns of X do not matter.
    const std::vector<std::int32_t> columns(directions.rbegin(), directions.rend());
    const ColumnSelection selection = select_columns(workspace, columns, directions);
    EXPECT_EQ(at_size(selection.width), to);
    const std::vector<float> in = random_values(kSegments * segments.pitch * kColumns, 1);
    Guarded<float> p(context_, in);
    Guarded<float> out(context_, kSegments * segments.pitch * to);
    gather.apply(selection, *p, kColumns, segments, *out);
    const std::vector<float> found = out.values();
    EXPECT_EQ(p.values(), in);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::size_t segment = at / to / segments.pitch;
      const std::size_t row = at / to;
      if (segment == 1) {
        ASSERT_TRUE(std::isnan(found[at]));  // As it was.
        continue;
      }
      const std::int32_t column = directions[segment / 2 * to + at % to];
      const bool exists = column >= 0 && row % segments.pitch < each;
      ASSERT_EQ(found[at], exists ? in[row * kColumns + at_size(column)] : 0);
    }
  }
}

}  // namespace
}  // namespace diacut::testing
