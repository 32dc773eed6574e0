// What a graph has to be, and contractions of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/graph.hpp"
#include "graph/graph_levels.hpp"
#include "graph/steps.hpp"
#include "graphs.hpp"
#include "matchers.hpp"
#include "refusal.hpp"

namespace diacut::testing {
namespace {

std::string message(const Graph& graph) {
  return message_of<InputError>([&] { check_graph(graph); });
}

TEST(CheckGraph, TakesWhatIsSymmetricUpToRounding) {
  Graph graph = testing::grid_graph(5, 4);
  EXPECT_EQ(message(graph), "");
  graph.weights[0] *= 1 + 2e-7F;
  EXPECT_EQ(message(graph), "");
  EXPECT_EQ(message(graph_of(1, {})), "");
  EXPECT_EQ(message(graph_of(3, {{1, 1}})), "");
}

TEST(CheckGraph, NamesWhatIsWrong) {
  EXPECT_THAT(message(Graph{}), HasSubstr("no nodes"));
  const char* const no_weight = "weight between nodes 0 and 1 .*finite and not negative";
  const std::pair<void (*)(Graph&), const char*> cases[] = {
      {[](Graph& graph) { graph.weights.pop_back(); }, "6 columns and 5 weights"},
      {[](Graph& graph) { graph.starts[0] = 1; }, "begin at 0"},
      {[](Graph& graph) { graph.starts[1] = 5; }, "row starts have to ascend"},
      {[](Graph& graph) { graph.columns[0] = 9; }, "row 0 of the graph has an entry in column 9"},
      {[](Graph& graph) { std::swap(graph.columns[1], graph.columns[2]); },
       "column 0 after column 2"},
      {[](Graph& graph) { graph.weights[0] = -1; }, no_weight},
      {[](Graph& graph) { graph.weights[0] = std::nanf(""); }, no_weight},
      {[](Graph& graph) { graph.weights[0] = INFINITY; }, no_weight},
      {[](Graph& graph) { graph.weights[3] = 2; }, "not symmetric: the weight from node 1"},
      {[](Graph& graph) { graph.columns[5] = 1; }, "not symmetric"}};
  for (const auto& [spoil, told] : cases) {
    Graph graph = testing::path_graph(4);
    spoil(graph);
    EXPECT_THAT(message(graph), ::testing::ContainsRegex(told));
  }
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

TEST(GraphLevels, RefuseWeightsWhoseSumIsNoFloat) {
  const Graph graph = graph_of(3, {{0, 1, 3e38F}, {1, 2, 3e38F}});
  expect_refused([&] { graph_levels(graph, 100, 10, {}); }, "more than a float holds");
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
  using ::testing::FloatEq;
  EXPECT_THAT(coarse.values, ElementsAre(FloatEq(8), FloatEq(0.1F), FloatEq(0.1F), FloatEq(2)));
}

}  // namespace
}  // namespace diacut::testing
