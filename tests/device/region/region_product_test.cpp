// What direct cuts take from the affinities: the known answers of lib/judge/doctor at awkward
// sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "doctor/checks.hpp"
#include "region/device_graph.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

class RegionProductTest : public GuardedTest {};

TEST_F(RegionProductTest, AgreesWithPlainLoopsAtAwkwardSizes) {
  const Grid grids[] = {{1, 1},  {1, 7},  {7, 1},  {2, 2},  {3, 5},  {8, 8},
                        {63, 1}, {13, 5}, {64, 2}, {65, 3}, {31, 37}};
  unsigned seed = 1;
  for (const Grid& grid : grids) {
    for (const int radius : {1, 3, 5}) {
      SCOPED_TRACE(::testing::Message()
                   << grid.width << "x" << grid.height << " radius " << radius);
      const BlockProblem problem(grid.width, grid.height, radius, ++seed);
      expect_right([&](Trial& trial) { check_products_within(trial, problem, {16}); });
    }
  }
}

TEST_F(RegionProductTest, ReadsNoOtherRegionsVectors) {
  const BlockProblem problem(17, 9, 3, 6);
  const NormalizedMatrix matrix = matrix_of(context_, problem);
  DeviceAffinityGraph graph(context_, matrix);
  Trial trial(context_);
  std::vector<float> x = trial.normal(problem.grid.rows() * 4);
  std::vector<std::int32_t> region;
  for (const float drawn : trial.uniform(problem.grid.rows())) {
    region.push_back(static_cast<std::int32_t>(3 * drawn));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (region[i / 4] != 1) x[i] = NAN;
  }
  std::vector<float> out;
  graph.product_within(region, x, 4, out);
  int checked = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (region[i / 4] == 2) continue;
    ASSERT_TRUE(region[i / 4] == 1 ? std::isfinite(out[i]) : out[i] == 0.0f) << i;
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

TEST_F(RegionProductTest, LinksAreTheWeightsOfNeighbours) {
  for (const Grid& grid : {Grid{1, 9}, Grid{9, 1}, Grid{2, 2}, Grid{17, 5}}) {
    const BlockProblem problem(grid.width, grid.height, 2, 20);
    const NormalizedMatrix matrix = matrix_of(context_, problem);
    DeviceAffinityGraph graph(context_, matrix);
    std::vector<std::int32_t> all(grid.rows(), 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto x = static_cast<int>(i % at_size(grid.width));
      for (const auto& [links, step, inside] :
           {std::tuple(graph.right(), at_size(1), x + 1 < grid.width),
            std::tuple(graph.down(), at_size(grid.width), i + at_size(grid.width) < all.size())}) {
        std::vector<float> unit(all.size(), 0);
        std::vector<float> column;
        if (inside) unit[i + step] = 1;
        graph.product_within(all, unit, 1, column);
        EXPECT_FLOAT_EQ(links[i], column[i]) << i;
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
