// What a graph has to be, and contractions of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "diacut/errors.hpp"
#include "diacut/graph.hpp"
#include "graph/graph_levels.hpp"
#include "graphs.hpp"

namespace diacut {
namespace {

using testing::graph_of;
using ::testing::HasSubstr;

std::string message(const Graph& graph) {
  try {
    check_graph(graph);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(CheckGraph, TakesWhatIsSymmetricUpToRounding) {
  Graph graph = testing::grid_graph(5, 4);
  EXPECT_EQ(message(graph), "none");
  graph.weights[0] *= 1 + 2e-7F;
  EXPECT_EQ(message(graph), "none");
  EXPECT_EQ(message(graph_of(1, {})), "none");
  EXPECT_EQ(message(graph_of(3, {{1, 1}})), "none");
}

TEST(CheckGraph, NamesWhatIsWrong) {
  EXPECT_THAT(message(Graph{}), HasSubstr("no nodes"));
  const Graph good = testing::path_graph(4);
  Graph graph = good;
  graph.weights.pop_back();
  EXPECT_THAT(message(graph), HasSubstr("6 columns and 5 weights"));
  graph = good;
  graph.starts[0] = 1;
  EXPECT_THAT(message(graph), HasSubstr("begin at 0"));
  graph = good;
  graph.starts[1] = 5;
  EXPECT_THAT(message(graph), HasSubstr("row starts have to ascend"));
  graph = good;
  graph.columns[0] = 9;
  EXPECT_THAT(message(graph), HasSubstr("row 0 of the graph has an entry in column 9"));
  graph = good;
  std::swap(graph.columns[1], graph.columns[2]);
  EXPECT_THAT(message(graph), HasSubstr("column 0 after column 2"));
  for (const float bad :
       {-1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    graph = good;
    graph.weights[0] = bad;
    EXPECT_THAT(message(graph), HasSubstr("weight between nodes 0 and 1"));
  }
  graph = good;
  graph.weights[3] = 2;
  EXPECT_THAT(message(graph), HasSubstr("not symmetric: the weight from node 1"));
  graph = good;
  graph.columns[5] = 1;
  EXPECT_THAT(message(graph), HasSubstr("not symmetric"));
}

TEST(GraphLevels, KeepDegreesComponentsAndNumbers) {
  const Graph graph = testing::joined(testing::grid_graph(40, 30), testing::path_graph(300));
  const GraphLevels levels = graph_levels(graph, 100, 10, {});
  ASSERT_GE(levels.levels.size(), 3U);
  EXPECT_LE(levels.levels.back().nodes(), 100U);
  ASSERT_EQ(levels.component_degrees.size(), 2U);
  EXPECT_GT(levels.component_degrees[0], levels.component_degrees[1]);
  const auto total = [](const GraphLevel& level) {
    return std::accumulate(level.degrees.begin(), level.degrees.end(), 0.0);
  };
  for (const GraphLevel& level : levels.levels) {
    EXPECT_NEAR(total(level), total(levels.levels[0]), 1e-5 * total(level));
    EXPECT_TRUE(std::is_sorted(level.coarse.begin(), level.coarse.end()));
  }
  for (std::size_t i = 0; i < levels.nodes(); ++i) {
    const std::uint32_t node = levels.origin[i];
    const GraphLevel& finest = levels.levels[0];
    EXPECT_EQ(finest.weights.starts[i + 1] - finest.weights.starts[i],
              graph.starts[node + 1] - graph.starts[node]);
    const bool in_path = node >= 1200;
    EXPECT_EQ(levels.component[i] == levels.component[0], in_path == (levels.origin[0] >= 1200));
  }
}

TEST(GraphLevels, ContractionsSumWeights) {
  // 0-1-2   3-4: aggregates {0, 1, 2} and {3, 4}, with an edge of 0.1 between 2 and 3.
  const Graph graph = graph_of(5, {{0, 1, 2}, {1, 2, 2}, {2, 3, 0.1F}, {3, 4, 1}});
  const HostCsr weights{{0, 1, 3, 5, 7, 8}, graph.columns, graph.weights};
  const Aggregates aggregates = aggregate(weights);
  ASSERT_EQ(aggregates.count, 2U);
  EXPECT_EQ(aggregates.of_node, (std::vector<std::uint32_t>{0, 0, 0, 1, 1}));
  const HostCsr coarse = contract(weights, aggregates);
  EXPECT_EQ(coarse.starts, (std::vector<std::uint32_t>{0, 2, 4}));
  EXPECT_EQ(coarse.columns, (std::vector<std::uint32_t>{0, 1, 0, 1}));
  EXPECT_FLOAT_EQ(coarse.values[0], 8);
  EXPECT_FLOAT_EQ(coarse.values[1], 0.1F);
  EXPECT_FLOAT_EQ(coarse.values[2], 0.1F);
  EXPECT_FLOAT_EQ(coarse.values[3], 2);
}

}  // namespace
}  // namespace diacut
