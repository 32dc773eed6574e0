// What direct cuts take from the affinities, beside a matrix at awkward sizes.
#include "region/affinity_graph.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "doctor/checks.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

using AffinityGraphTest = GuardedTest;

TEST_F(AffinityGraphTest, HasTheWeightsOfAllPairsOfTheMatrix) {
  for (const Grid& grid : {Grid{1, 1}, Grid{1, 9}, Grid{9, 1}, Grid{2, 2}, Grid{3, 5}, Grid{17, 5},
                           Grid{13, 70}, Grid{65, 12}}) {
    for (const int radius : {1, 3, 5}) {
      SCOPED_TRACE(::testing::Message()
                   << grid.width << "x" << grid.height << " radius " << radius);
      const BlockProblem problem(grid.width, grid.height, radius, 20);
      const AffinityGraph graph(matrix_of(context_, problem));
      std::vector<std::int32_t> region;
      for (const float drawn : Trial(context_).uniform(grid.rows())) {
        region.push_back(static_cast<std::int32_t>(3 * drawn));
      }
      std::map<std::pair<std::size_t, std::size_t>, float> expected;
      std::vector<double> leaving(grid.rows(), 0);
      for (std::size_t i = 0; i < grid.rows(); ++i) {
        for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
          const auto [dx, dy] = problem.stencil.entries[d];
          const int x = static_cast<int>(i) % grid.width + dx;
          const int y = static_cast<int>(i) / grid.width + dy;
          if (d == problem.stencil.centre() || x < 0 || x >= grid.width || y < 0 ||
              y >= grid.height) {
            continue;
          }
          const std::size_t j = at_size(y * grid.width + x);
          const float weight = problem.matrix.values[d * problem.matrix.shape.pitch + i] *
                               (problem.sqrt_degree[i] * problem.sqrt_degree[j]);
          if (weight == 0) continue;
          expected[{i, j}] = weight;
          if (region[i] != 0 && region[i] != region[j]) leaving[i] += weight;
          if (d == problem.stencil.index({1, 0})) {
            EXPECT_EQ(graph.right()[i], weight);
          }
          if (d == problem.stencil.index({0, 1})) {
            EXPECT_EQ(graph.down()[i], weight);
          }
        }
      }
      std::map<std::pair<std::size_t, std::size_t>, float> found;
      const auto add = [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t step,
                           const float* weights) {
        for (std::ptrdiff_t i = first; i < last; ++i) {
          if (weights[i - first] != 0) found[{i, i + step}] = weights[i - first];
        }
      };
      // In parts, as threads take them.
      const std::size_t half = grid.rows() / 2;
      graph.for_each_neighbour(0, half, add);
      graph.for_each_neighbour(half, grid.rows(), add);
      EXPECT_EQ(found.size(), expected.size());
      for (const auto& [pair, weight] : expected) {
        // The matrix is symmetric up to the rounding of its entries.
        ASSERT_FLOAT_EQ(found[pair], weight) << pair.first << " and " << pair.second;
      }
      const std::vector<double> sums = leaving_affinity(graph, region);
      for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(sums[i], leaving[i], 1e-5) << i;
    }
  }
}

}  // namespace
}  // namespace diacut::testing
