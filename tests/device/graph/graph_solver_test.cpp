// Eigenvectors of graphs: against formulas and Eigen's dense solver, with residuals
// computed in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "answers/checks.hpp"
#include "diacut/errors.hpp"
#include "diacut/graph.hpp"
#include "graphs.hpp"
#include "refusal.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

GraphSolver& solver() {
  // Never destroyed: drivers may be gone before static objects are.
  static auto* const shared = new GraphSolver(test_device());
  return *shared;
}

/// Residuals are those of unit vectors and lie within the tolerance. A residual r at an eigenvalue
/// allows an error of the eigenvalue of at most r (and r^2 / gap); rounding allows some 1e-6.
void expect_eigenvectors(const Graph& graph, const GraphEigenvectors& found,
                         const std::vector<double>& expected, double tolerance) {
  EXPECT_TRUE(found.report.converged);
  ASSERT_LE(found.values.size(), expected.size());
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    EXPECT_LE(graph_residual(graph, found, k), 1.1 * tolerance + 1e-6) << k;
    EXPECT_NEAR(found.values[k], expected[k], 1e-3 * expected[k] + 1e-6) << k;
  }
  EXPECT_LT(orthogonality_error(found), 1e-5);
  for (const std::vector<float>& vector : found.vectors) {
    const float largest = *std::max_element(
        vector.begin(), vector.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    EXPECT_GT(largest, 0);
  }
}

TEST(GraphSolver, FindsTheSpectraOfPathsCyclesAndStars) {
  std::vector<Graph> graphs;
  for (const std::size_t nodes : {2U, 3U, 30U, 299U, 1500U}) graphs.push_back(path_graph(nodes));
  for (const std::size_t nodes : {3U, 30U, 299U, 1500U}) {
    graphs.push_back(tied_graph(
        nodes, [&](auto i, auto j) { return j == i + 1 || (i == 0 && j + 1 == nodes); }));
  }
  for (const std::size_t nodes : {5U, 80U, 700U}) {
    graphs.push_back(tied_graph(nodes, [](auto, auto) { return true; }));
    graphs.push_back(tied_graph(nodes, [](auto i, auto) { return i == 0; }));
  }
  for (std::size_t k = 0; k < graphs.size(); ++k) {
    SCOPED_TRACE(k);
    GraphParameters parameters;
    parameters.vectors = static_cast<int>(std::min<std::size_t>(graphs[k].nodes(), 9));
    parameters.tolerance = 1e-5;
    expect_eigenvectors(graphs[k], solver().eigenvectors(graphs[k], parameters),
                        dense_eigenvalues(graphs[k]), 1e-5);
  }
}

TEST(GraphSolver, FindsTheSpectraOfGridsAndRandomGraphs) {
  for (const Graph& graph : {grid_graph(7, 5), grid_graph(41, 23), random_graph(200, 2),
                             random_graph(900, 1), random_graph(800, 4)}) {
    SCOPED_TRACE(graph.nodes());
    expect_eigenvectors(graph, solver().eigenvectors(graph), dense_eigenvalues(graph), 1e-4);
  }
}

TEST(GraphSolver, FindsOneZeroForEachComponent) {
  const Graph graph = joined(joined(grid_graph(30, 20), grid_graph(25, 33, 5)),
                             tied_graph(3, [](auto, auto) { return true; }));
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
  expect_eigenvectors(graph, found, dense_eigenvalues(graph), 1e-4);
}

TEST(GraphSolver, ManyComponentsAreAllZeros) {
  std::vector<Edge> edges;
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
  Graph graph = joined(grid_graph(20, 20), graph_of(3, {{1, 1, 2.0F}, {0, 2, 0.0F}}));
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
  const GraphEigenvectors alone = solver().eigenvectors(grid_graph(20, 20));
  for (std::size_t k = 2; k < found.values.size(); ++k) {
    EXPECT_NEAR(found.values[k], alone.values[k - 1], 1e-3 * found.values[k]);
  }
}

TEST(GraphSolver, LoopsSlowTheWalkDown) {
  std::vector<Edge> edges;
  for (std::size_t i = 1; i < 500; ++i) edges.push_back({i - 1, i});
  for (std::size_t i = 0; i < 500; ++i) edges.push_back({i, i, 3});
  const Graph graph = graph_of(500, edges);
  expect_eigenvectors(graph, solver().eigenvectors(graph), dense_eigenvalues(graph), 1e-4);
}

TEST(GraphSolver, HubsAndWeightsOfManyMagnitudesConverge) {
  // Two grids whose weights differ by a thousand, a hub that is joined to every tenth node.
  Graph fine = grid_graph(30, 30, 2);
  for (float& weight : fine.weights) weight *= 1000;
  const Graph both = joined(fine, grid_graph(25, 25, 3));
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < both.nodes(); ++i) {
    for (std::uint64_t at = both.starts[i]; at < both.starts[i + 1]; ++at) {
      edges.push_back({i, both.columns[at], both.weights[at]});
    }
    if (i % 10 == 0) edges.push_back({i, both.nodes(), 0.01F});
  }
  const Graph graph = graph_of(both.nodes() + 1, edges);
  expect_eigenvectors(graph, solver().eigenvectors(graph), dense_eigenvalues(graph), 1e-4);
}

TEST(GraphSolver, ManyVectorsStartAtRandom) {
  // Contractions end at a level that is too large to be solved densely.
  const Graph graph = grid_graph(34, 32);
  GraphParameters parameters;
  parameters.vectors = 340;
  expect_eigenvectors(graph, solver().eigenvectors(graph, parameters), dense_eigenvalues(graph),
                      1e-4);
}

TEST(GraphSolver, GivesTheSameBytesTwice) {
  const Graph graph = grid_graph(60, 50);
  const GraphEigenvectors first = solver().eigenvectors(graph);
  const GraphEigenvectors second = solver().eigenvectors(graph);
  EXPECT_EQ(first.vectors, second.vectors);
  EXPECT_EQ(first.values, second.values);
}

TEST(GraphSolver, RefusesWhatMakesNoSense) {
  expect_refused([&] { solver().eigenvectors(Graph{}); }, "no nodes");
  expect_refused([&] { solver().eigenvectors(graph_of(3, {})); }, "no edges");
}

TEST(GraphSolver, OneNodeWithALoopIsAComponent) {
  GraphParameters one;
  one.vectors = 1;
  const GraphEigenvectors found = solver().eigenvectors(graph_of(1, {{0, 0, 2}}), one);
  EXPECT_EQ(found.values, std::vector<double>{0});
  EXPECT_EQ(found.vectors, (std::vector<std::vector<float>>{{1}}));
}

TEST(GraphSolver, StopsWhenAsked) {
  CancelToken cancel;
  cancel.cancel();
  EXPECT_THROW(solver().eigenvectors(grid_graph(60, 50), {}, {{}, &cancel}), CancelledError);
}

}  // namespace
}  // namespace diacut::testing
