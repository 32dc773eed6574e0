// Eigenvectors and clusters of graphs: against formulas and Eigen's dense solver, with residuals
// computed in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/graph.hpp"
#include "graphs.hpp"
#include "matchers.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

GraphSolver& solver() {
  // Never destroyed: drivers may be gone before static objects are.
  static auto* const shared = new GraphSolver(testing::test_device());
  return *shared;
}

/// Residuals are those of unit vectors and lie within the tolerance. A residual r at an eigenvalue
/// allows an error of the eigenvalue of at most r (and r^2 / gap); rounding allows some 1e-6.
void expect_eigenvectors(const Graph& graph, const GraphEigenvectors& found,
                         const std::vector<double>& expected, double tolerance) {
  EXPECT_TRUE(found.report.converged);
  ASSERT_LE(found.values.size(), expected.size());
  const std::vector<double> residuals = testing::residuals_of(graph, found);
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    EXPECT_LE(residuals[k], 1.1 * tolerance + 1e-6) << k;
    EXPECT_NEAR(found.values[k], expected[k], 1e-3 * expected[k] + 1e-6) << k;
  }
  EXPECT_LT(testing::orthogonality_error(found), 1e-5);
  for (const std::vector<float>& vector : found.vectors) {
    const float largest = *std::max_element(
        vector.begin(), vector.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    EXPECT_GT(largest, 0);
  }
}

std::vector<double> ascending(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

template <class Value>
std::vector<double> spectrum(std::size_t count, const Value& value) {
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k) values.push_back(value(static_cast<double>(k)));
  return ascending(values);
}

constexpr double kPi = std::numbers::pi;

TEST(GraphSolver, FindsTheSpectraOfPathsAndCycles) {
  for (const std::size_t nodes : {2U, 3U, 30U, 299U, 1500U}) {
    SCOPED_TRACE(nodes);
    const auto n = static_cast<double>(nodes);
    GraphParameters parameters;
    parameters.vectors = static_cast<int>(std::min<std::size_t>(nodes, 9));
    parameters.tolerance = 1e-5;
    const Graph path = testing::path_graph(nodes);
    expect_eigenvectors(path, solver().eigenvectors(path, parameters),
                        spectrum(nodes, [&](double k) { return 1 - std::cos(kPi * k / (n - 1)); }),
                        1e-5);
    if (nodes < 3) continue;
    const Graph cycle = testing::tied_graph(
        nodes, [&](auto i, auto j) { return j == i + 1 || (i == 0 && j + 1 == nodes); });
    expect_eigenvectors(cycle, solver().eigenvectors(cycle, parameters),
                        spectrum(nodes, [&](double k) { return 1 - std::cos(2 * kPi * k / n); }),
                        1e-5);
  }
}

TEST(GraphSolver, FindsTheSpectraOfCompleteGraphsAndStars) {
  for (const std::size_t nodes : {5U, 80U, 700U}) {
    SCOPED_TRACE(nodes);
    const auto n = static_cast<double>(nodes);
    GraphParameters parameters;
    parameters.vectors = 5;
    const Graph complete = testing::tied_graph(nodes, [](auto, auto) { return true; });
    expect_eigenvectors(complete, solver().eigenvectors(complete, parameters),
                        spectrum(nodes, [&](double k) { return k == 0 ? 0 : n / (n - 1); }), 1e-4);
    const Graph star = testing::tied_graph(nodes, [](auto i, auto) { return i == 0; });
    expect_eigenvectors(star, solver().eigenvectors(star, parameters),
                        spectrum(nodes, [&](double k) { return k == 0       ? 0
                                                               : k + 1 == n ? 2
                                                                            : 1; }),
                        1e-4);
  }
}

TEST(GraphSolver, FindsTheSpectraOfGridsAndRandomGraphs) {
  for (const Graph& graph :
       {testing::grid_graph(7, 5), testing::grid_graph(41, 23), testing::random_graph(200, 2),
        testing::random_graph(900, 1), testing::random_graph(800, 4)}) {
    SCOPED_TRACE(graph.nodes());
    expect_eigenvectors(graph, solver().eigenvectors(graph), testing::dense_eigenvalues(graph),
                        1e-4);
  }
}

TEST(GraphSolver, FindsOneZeroForEachComponent) {
  const Graph graph = joined(joined(testing::grid_graph(30, 20), testing::grid_graph(25, 33, 5)),
                             testing::tied_graph(3, [](auto, auto) { return true; }));
  const GraphEigenvectors found = solver().eigenvectors(graph);
  EXPECT_EQ(found.report.solver, "multilevel");
  EXPECT_EQ(found.components, 3U);
  EXPECT_EQ(found.isolated, 0U);
  EXPECT_EQ(found.values[0], 0);
  EXPECT_EQ(found.values[2], 0);
  EXPECT_GT(found.values[3], 1e-5);
  // The largest component is the second grid, and its vector is 0 elsewhere.
  EXPECT_EQ(found.vectors[0][0], 0);
  EXPECT_GT(found.vectors[0][700], 0);
  EXPECT_GT(found.vectors[2][graph.nodes() - 1], 0.5);
  expect_eigenvectors(graph, found, testing::dense_eigenvalues(graph), 1e-4);
}

TEST(GraphSolver, ManyComponentsAreAllZeros) {
  std::vector<testing::Edge> edges;
  for (std::size_t i = 0; i < 4000; i += 2) edges.push_back({i, i + 1});
  const Graph graph = graph_of(4000, edges);
  const GraphEigenvectors found = solver().eigenvectors(graph);
  EXPECT_EQ(found.report.solver, "components");
  EXPECT_EQ(found.components, 2000U);
  EXPECT_THAT(found.values, Each(0.0));
  EXPECT_FLOAT_EQ(found.vectors[3][6], std::sqrt(0.5F));
  expect_eigenvectors(graph, found, found.values, 1e-6);
}

TEST(GraphSolver, IsolatedNodesAreZeroAndLoopsCountInDegrees) {
  Graph graph = joined(testing::grid_graph(20, 20), graph_of(3, {{1, 1, 2.0F}, {0, 2, 0.0F}}));
  const GraphEigenvectors found = solver().eigenvectors(graph);
  EXPECT_EQ(found.isolated, 2U);
  EXPECT_EQ(found.components, 2U);  // The grid, and the node whose only edge is a loop.
  EXPECT_EQ(found.sqrt_degree[400], 0);
  EXPECT_FLOAT_EQ(found.sqrt_degree[401], std::sqrt(2.0F));
  EXPECT_FLOAT_EQ(found.vectors[1][401], 1);
  for (const std::vector<float>& vector : found.vectors) {
    EXPECT_EQ(vector[400], 0);
    EXPECT_EQ(vector[402], 0);
  }
  const GraphEigenvectors alone = solver().eigenvectors(testing::grid_graph(20, 20));
  for (std::size_t k = 2; k < found.values.size(); ++k) {
    EXPECT_NEAR(found.values[k], alone.values[k - 1], 1e-3 * found.values[k]);
  }
}

TEST(GraphSolver, LoopsSlowTheWalkDown) {
  std::vector<testing::Edge> edges;
  for (std::size_t i = 1; i < 500; ++i) edges.push_back({i - 1, i});
  for (std::size_t i = 0; i < 500; ++i) edges.push_back({i, i, 3});
  const Graph graph = graph_of(500, edges);
  expect_eigenvectors(graph, solver().eigenvectors(graph), testing::dense_eigenvalues(graph), 1e-4);
}

TEST(GraphSolver, HubsAndWeightsOfManyMagnitudesConverge) {
  // Two grids whose weights differ by a thousand, a hub that is joined to every tenth node.
  Graph fine = testing::grid_graph(30, 30, 2);
  for (float& weight : fine.weights) weight *= 1000;
  const Graph both = joined(fine, testing::grid_graph(25, 25, 3));
  std::vector<testing::Edge> edges;
  for (std::size_t i = 0; i < both.nodes(); ++i) {
    for (std::uint64_t at = both.starts[i]; at < both.starts[i + 1]; ++at) {
      edges.push_back({i, both.columns[at], both.weights[at]});
    }
    if (i % 10 == 0) edges.push_back({i, both.nodes(), 0.01F});
  }
  const Graph graph = graph_of(both.nodes() + 1, edges);
  expect_eigenvectors(graph, solver().eigenvectors(graph), testing::dense_eigenvalues(graph), 1e-4);
}

TEST(GraphSolver, ManyVectorsStartAtRandom) {
  // Contractions end at a level that is too large to be solved densely.
  const Graph graph = testing::grid_graph(34, 32);
  GraphParameters parameters;
  parameters.vectors = 340;
  expect_eigenvectors(graph, solver().eigenvectors(graph, parameters),
                      testing::dense_eigenvalues(graph), 1e-4);
}

TEST(GraphSolver, GivesTheSameBytesTwice) {
  const Graph graph = testing::grid_graph(60, 50);
  const GraphEigenvectors first = solver().eigenvectors(graph);
  const GraphEigenvectors second = solver().eigenvectors(graph);
  EXPECT_EQ(first.vectors, second.vectors);
  EXPECT_EQ(first.values, second.values);
}

TEST(GraphSolver, TellsThatItDidNotConverge) {
  GraphParameters parameters;
  parameters.tolerance = 1e-9;  // Less than float resolves.
  parameters.max_iterations = 3;
  const GraphEigenvectors found = solver().eigenvectors(testing::grid_graph(60, 50), parameters);
  EXPECT_FALSE(found.report.converged);
  EXPECT_EQ(found.vectors.size(), 17U);
}

TEST(GraphSolver, RefusesWhatMakesNoSense) {
  const Graph path = testing::path_graph(5);
  GraphParameters six;
  six.vectors = 6;
  EXPECT_THAT(message_of<ConfigError>([&] { solver().eigenvectors(path, six); }),
              HasSubstr("ask for at most 5"));
  GraphParameters five;
  five.vectors = 5;
  EXPECT_EQ(solver().eigenvectors(path, five).values.size(), 5U);
  GraphParameters none;
  none.vectors = 0;
  EXPECT_THAT(message_of<ConfigError>([&] { solver().eigenvectors(path, none); }),
              HasSubstr("0 eigenvectors"));
  EXPECT_THAT(message_of<ConfigError>([&] { solver().cluster(path, 6); }),
              HasSubstr("6 clusters are asked for, but only 5"));
  EXPECT_THAT(message_of<InputError>([&] { solver().eigenvectors(Graph{}); }),
              HasSubstr("no nodes"));
  EXPECT_THAT(message_of<InputError>([&] { solver().eigenvectors(graph_of(3, {})); }),
              HasSubstr("no edges"));
  GraphParameters loose;
  loose.tolerance = NAN;
  EXPECT_THAT(message_of<ConfigError>([&] { solver().eigenvectors(path, loose); }),
              HasSubstr("tolerance"));
}

TEST(GraphSolver, OneNodeWithALoopIsAComponent) {
  GraphParameters one;
  one.vectors = 1;
  const GraphEigenvectors found = solver().eigenvectors(graph_of(1, {{0, 0, 2}}), one);
  EXPECT_EQ(found.values, std::vector<double>{0});
  EXPECT_EQ(found.vectors, (std::vector<std::vector<float>>{{1}}));
}

TEST(GraphSolver, RefusesWhatDoesNotFitTheDevice) {
  GraphSolver small(testing::test_device());
  small.limit_device_memory(1 << 20);
  EXPECT_THAT(message_of<DeviceError>([&] { small.eigenvectors(testing::grid_graph(100, 100)); }),
              HasSubstr("not enough device memory"));
}

TEST(GraphSolver, StopsWhenAsked) {
  CancelToken cancel;
  cancel.cancel();
  EXPECT_THROW(solver().eigenvectors(testing::grid_graph(60, 50), {}, {{}, &cancel}),
               CancelledError);
}

TEST(GraphClusters, AreThePartsThatHangTogether) {
  // Three grids, joined by one weak edge each.
  const Graph three = joined(joined(testing::grid_graph(20, 20, 1), testing::grid_graph(20, 20, 2)),
                             testing::grid_graph(20, 20, 3));
  std::vector<testing::Edge> edges = {{399, 400, 1e-3F}, {799, 800, 1e-3F}};
  for (std::size_t i = 0; i < three.nodes(); ++i) {
    for (std::uint64_t at = three.starts[i]; at < three.starts[i + 1]; ++at) {
      edges.push_back({i, three.columns[at], three.weights[at]});
    }
  }
  const Graph graph = graph_of(three.nodes(), edges);
  const GraphLabels found = solver().cluster(graph, 3);
  EXPECT_EQ(found.count, 3);
  for (std::size_t i = 0; i < graph.nodes(); ++i) {
    ASSERT_EQ(found.labels[i], static_cast<std::int32_t>(i / 400) + 1) << i;
  }
  EXPECT_GT(found.normalized_cut, 0);
  EXPECT_LT(found.normalized_cut, 1e-4);
  EXPECT_EQ(found.values.size(), 3U);
  EXPECT_EQ(solver().cluster(graph, 1).count, 1);
}

TEST(GraphClusters, OfMoreComponentsThanClustersAreWholeComponents) {
  Graph graph = joined(testing::path_graph(9), testing::path_graph(3));
  graph = joined(joined(graph, testing::path_graph(4)), graph_of(1, {}));
  const GraphLabels found = solver().cluster(graph, 2);
  const std::vector<std::int32_t> expected = {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 0};
  EXPECT_EQ(found.labels, expected);
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(found.normalized_cut, 0);
}

}  // namespace
}  // namespace diacut::testing
