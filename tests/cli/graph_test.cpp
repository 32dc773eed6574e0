// segment graph: eigenvectors and clusters of a sparse matrix.
#include "diacut/graph.hpp"

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "answers/checks.hpp"
#include "cli_test.hpp"
#include "graphs.hpp"
#include "matchers.hpp"
#include "npz_writer.hpp"

namespace diacut::testing {
namespace {

class CliGraph : public CliTest {
 protected:
  /// Two grids of 12 x 10 nodes, joined by a weak edge.
  CliGraph() {
    Graph both = joined(grid_graph(12, 10, 1), grid_graph(12, 10, 2));
    std::vector<Edge> edges = {{119, 120, 1e-3F}};
    for (std::size_t i = 0; i < both.nodes(); ++i) {
      for (std::uint64_t at = both.starts[i]; at < both.starts[i + 1]; ++at) {
        edges.push_back({i, both.columns[at], both.weights[at]});
      }
    }
    graph_ = graph_of(both.nodes(), edges);
    write("w.npz", npz(graph_));
  }

  static std::string npz(const Graph& graph) {
    const auto nodes = static_cast<std::int64_t>(graph.nodes());
    return zip_of({{"indices.npy", npy_of<std::uint32_t>("<u4", graph.columns), true},
                   {"indptr.npy",
                    npy_of<std::int64_t>("<i8", {graph.starts.begin(), graph.starts.end()}), true},
                   {"format.npy", npy_of("|S3", "()", "csr")},
                   {"shape.npy", npy_of<std::int64_t>("<i8", {nodes, nodes})},
                   {"data.npy", npy_of<float>("<f4", graph.weights), true}});
  }

  Result graph(const std::string& line, Surroundings around = {}) const {
    return segment("graph " + line, std::move(around));
  }

  /// The elements of a .npy file, whose header has 128 bytes.
  template <class T>
  std::vector<T> elements(const std::string& name) const {
    const std::string bytes = read(name).substr(128);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  Graph graph_;
};

TEST_F(CliGraph, WritesVectorsLabelsAndAReport) {
  expect_done(graph("w.npz -o v.npy --vectors 5 --clusters 2 --labels l.npy --json r.json"));
  EXPECT_THAT(files(), UnorderedElementsAre("w.npz", "v.npy", "l.npy", "r.json"));
  EXPECT_THAT(read("v.npy").substr(0, 128), HasSubstr("'<f4'"));
  EXPECT_THAT(read("v.npy").substr(0, 128), HasSubstr("(5, 240)"));
  const auto report = nlohmann::json::parse(read("r.json"));
  EXPECT_EQ(report["nodes"], 240);
  EXPECT_EQ(report["components"], 1);
  EXPECT_EQ(report["isolated"], 0);
  EXPECT_EQ(report["eigenvectors"]["converged"], true);
  EXPECT_EQ(report["clusters"]["count"], 2);
  EXPECT_GT(report["clusters"]["normalized_cut"], 0);
  EXPECT_LT(report["clusters"]["normalized_cut"], 1e-3);
  GraphEigenvectors found;
  const std::vector<float> values = elements<float>("v.npy");
  for (int k = 0; k < 5; ++k) {
    found.vectors.emplace_back(values.begin() + k * 240, values.begin() + (k + 1) * 240);
    found.values.push_back(report["eigenvectors"]["eigenvalues"][static_cast<std::size_t>(k)]);
  }
  for (std::size_t k = 0; k < 5; ++k) EXPECT_LT(graph_residual(graph_, found, k), 1.1e-4);
  const std::vector<std::int32_t> labels = elements<std::int32_t>("l.npy");
  ASSERT_EQ(labels.size(), 240U);
  for (std::size_t i = 0; i < 240; ++i) EXPECT_EQ(labels[i], i < 120 ? 1 : 2);
}

TEST_F(CliGraph, ReadsStandardInputAndReportsToStandardOutput) {
  const Result result = expect_done(graph("- --json - --vectors 3", {.input = read("w.npz")}));
  EXPECT_EQ(nlohmann::json::parse(result.out)["eigenvectors"]["eigenvalues"].size(), 3U);
  EXPECT_THAT(result.err, HasSubstr("standard input: 3 eigenvectors (dense"));
}

TEST_F(CliGraph, OfFewNodesAllEigenvectorsAreGiven) {
  Graph few = grid_graph(2, 3);
  few.starts.push_back(few.starts.back());  // A node without edges.
  write("few.npz", npz(few));
  expect_done(graph("few.npz --clusters 2 --labels l.npy -o v.npy --json r.json"));
  EXPECT_THAT(read("v.npy").substr(0, 128), HasSubstr("(6, 7)"));
  EXPECT_EQ(nlohmann::json::parse(read("r.json"))["isolated"], 1);
  EXPECT_EQ(elements<std::int32_t>("l.npy").back(), 0);
  expect_error(graph("few.npz -o v.npy --vectors 17"), 2, {"17", "at most 6"});
}

TEST_F(CliGraph, TellsByTheExitCodeWhatMissesTheTolerance) {
  write("large.npz", npz(grid_graph(40, 40)));
  const Result result = graph("large.npz -o v.npy --tolerance 1e-12");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr("not converged"));
  EXPECT_TRUE(exists("v.npy"));
}

TEST_F(CliGraph, NamesTheMatrixAndWhatIsWrongWithIt) {
  const auto refuse = [&](const Graph& wrong, const std::vector<std::string>& told) {
    write("bad.npz", npz(wrong));
    std::vector<std::string> parts = told;
    parts.emplace_back("bad.npz: ");
    for (const char* result : {"-o x.npy", "--labels x.npy --clusters 2"}) {
      expect_error(graph(fmt::format("bad.npz --vectors 2 {}", result)), 3, parts);
      EXPECT_FALSE(exists("x.npy"));
    }
  };
  Graph wrong = path_graph(5);
  wrong.weights[3] = 2;
  refuse(wrong, {"not symmetric", "node 1", "(W + W') / 2"});
}

TEST_F(CliGraph, KeepsToTheDeviceMemoryThatItIsGiven) {
  write("large.npz", npz(grid_graph(60, 60)));
  expect_done(graph("large.npz -o v.npy --vectors 5 --memory 64M"));
  expect_error(graph("large.npz -o w.npy --vectors 5 --memory 100K"), 4, {"memory"});
  EXPECT_FALSE(exists("w.npy"));
}

TEST_F(CliGraph, RefusesWhatMakesNoSense) {
  expect_error(graph("w.npz -o v.npy --vectors 241"), 2, {"241", "at most 240"});
  expect_error(graph("w.npz -o v.npy --vectors 0"), 2, {"0 eigenvectors"});
  expect_error(graph("w.npz -o v.npy --tolerance -1"), 2, {"tolerance"});
  expect_error(graph("missing.npz -o v.npy"), 3, {"missing.npz"});
  expect_error(graph("w.npz -o nowhere/v.npy"), 3, {"nowhere"});
  EXPECT_THAT(files(), UnorderedElementsAre("w.npz"));
}

}  // namespace
}  // namespace diacut::testing
