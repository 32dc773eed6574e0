#include <gtest/gtest.h>

#include "diacut/clusters.hpp"
#include "diacut/errors.hpp"
#include "graphs.hpp"
#include "refusal.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

TEST(GraphClusters, OfMoreComponentsThanClustersAreWholeComponents) {
  Graph graph = joined(path_graph(9), path_graph(3));
  graph = joined(joined(graph, path_graph(4)), graph_of(1, {}));
  GraphSolver solver(test_device());
  const GraphLabels found = spectral_clustering(solver, graph, 2);
  const std::vector<std::int32_t> expected = {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 0};
  EXPECT_EQ(found.labels, expected);
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(found.normalized_cut, 0);
  expect_refused<ConfigError>([&] { spectral_clustering(solver, path_graph(5), 6); },
                              "6 clusters are asked for, but only 5");
}

}  // namespace
}  // namespace diacut::testing
