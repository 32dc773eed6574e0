// Sparse matrices of SciPy as graphs: formats, element types, and damaged files.
//
// What a graph has to be, and contractions of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
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
#include "npz_writer.hpp"
#include "refusal.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

class ReadGraph : public ::testing::Test {
 protected:
  Graph read(const std::string& bytes) {
    const std::string path = (folder_.path() / "w.npz").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return read_graph(path);
  }
  std::string message(const std::string& bytes) {
    const std::string told = message_of<InputError>([&] { read(bytes); });
    EXPECT_THAT(told, AnyOf("", HasSubstr("w.npz: ")));
    return told;
  }

  testing::TempFolder folder_;
};

ZipMember format(const std::string& name) {
  return {"format.npy", npy_of("|S" + std::to_string(name.size()), "()", name)};
}
ZipMember shape(std::int64_t rows, std::int64_t columns) {
  return {"shape.npy", npy_of<std::int64_t>("<i8", {rows, columns})};
}

using Members = std::vector<ZipMember>;

/// The path 0-1-2 with the weights 1 and 2; some members are others than usual.
Members path_members(const Members& others = {}) {
  Members members = {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2, 1})},
                     {"indptr.npy", npy_of<std::int32_t>("<i4", {0, 1, 3, 4})},
                     format("csr"),
                     shape(3, 3),
                     {"data.npy", npy_of<float>("<f4", {1, 1, 2, 2})}};
  for (const ZipMember& other : others) {
    std::replace_if(
        members.begin(), members.end(),
        [&](const ZipMember& member) { return member.name == other.name; }, other);
  }
  return members;
}

/// The members of a matrix of coordinates.
Members coordinates(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& columns,
                    const std::vector<double>& values, std::int64_t side) {
  return {{"row.npy", npy_of("<i4", rows)},
          {"col.npy", npy_of("<i4", columns)},
          format("coo"),
          shape(side, side),
          {"data.npy", npy_of("<f8", values)}};
}

void expect_path(const Graph& graph) {
  EXPECT_EQ(graph.starts, (std::vector<std::uint64_t>{0, 1, 3, 4}));
  EXPECT_EQ(graph.columns, (std::vector<std::uint32_t>{1, 0, 2, 1}));
  EXPECT_EQ(graph.weights, (std::vector<float>{1, 1, 2, 2}));
}

TEST_F(ReadGraph, ReadsEveryFormatAndTypeHoweverItIsStored) {
  for (Members members :
       {path_members(), path_members({{"data.npy", npy_of<double>("<f8", {1, 1, 2, 2})}}),
        path_members({{"data.npy", npy_of<std::int64_t>("<i8", {1, 1, 2, 2})}}),
        path_members({{"data.npy", npy_of<std::uint8_t>("|u1", {1, 1, 2, 2})}}),
        path_members({{"data.npy", npy_of<std::int16_t>("<i2", {1, 1, 2, 2})}}),
        path_members({{"data.npy", npy_of<std::uint16_t>(">u2", {256, 256, 512, 512})}}),
        path_members({{"indices.npy", npy_of<std::int64_t>("<i8", {1, 0, 2, 1})},
                      {"indptr.npy", npy_of<std::int64_t>("<i8", {0, 1, 3, 4})}}),
        // Columns in no order, and entries of one place.
        path_members({{"indices.npy", npy_of<std::int32_t>("<i4", {1, 2, 0, 2, 1})},
                      {"indptr.npy", npy_of<std::int32_t>("<i4", {0, 1, 4, 5})},
                      {"data.npy", npy_of<float>("<f4", {1, 0.5, 1, 1.5, 2})}}),
        path_members({format("csc")}),
        coordinates({2, 1, 0, 1, 1}, {1, 2, 1, 0, 2}, {2, 1, 1, 1, 1}, 3)}) {
    for (const bool deflated : {false, true}) {
      for (const bool wide : {false, true}) {
        for (ZipMember& member : members) {
          member.deflated = deflated;
          member.in_64_bits = wide;
        }
        expect_path(read(zip_of(members)));
      }
    }
  }
  const ZipMember bits = {"data.npy", npy_of<std::uint8_t>("|b1", {1, 1, 1, 1})};
  EXPECT_EQ(read(zip_of(path_members({bits}))).weights[2], 1);
}

TEST_F(ReadGraph, NamesWhatIsNoArchiveOfAMatrix) {
  EXPECT_THAT(message("hello, this is no archive"), HasSubstr("no .npz file"));
  EXPECT_THAT(message(""), HasSubstr("w.npz: "));
  EXPECT_THAT(message(zip_of({{"arr_0.npy", npy_of<float>("<f4", {1})}})),
              HasSubstr("no member format.npy"));
  EXPECT_THROW(read_graph((folder_.path() / "missing.npz").string()), InputError);
}

TEST_F(ReadGraph, NamesTheMemberThatIsWrong) {
  const std::string four(16, '\0');
  const std::vector<std::pair<ZipMember, const char*>> cases = {
      {format("dia"), "format 'dia', expected csr, csc or coo"},
      {shape(3, 4), "shape (3, 4), expected a square one"},
      {shape(2'000'000'000, 2'000'000'000), "for 2000000000 rows"},
      {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2, 7})},
       "has the entry 7 at 3, expected 0 to 2"},
      {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2, -1})}, "has the entry -1"},
      {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2})}, "4 values, 3 indices"},
      {{"indptr.npy", npy_of<std::int32_t>("<i4", {0, 3, 1, 4})}, "contradict"},
      {{"data.npy", npy_of("<c8", "(4,)", four + four)}, "type '<c8'"},
      {{"data.npy", npy_of<float>("<f4", {1, 1, 2, 3})}, "not symmetric"},
      {{"data.npy", npy_of<double>("<f8", {1e300, 1e300, 2, 2})}, "is inf"},
      {{"data.npy", npy_of<float>("<f4", {-1, -1, 2, 2})}, "is -1"},
      // The array's own header claims more than the member has, and less.
      {{"data.npy", npy_of("<f4", "(1000000000000,)", four)}, "cut off"},
      {{"data.npy", npy_of("<f4", "(3,)", four)}, "16 bytes of elements, not the 12"}};
  for (const auto& [wrong, told] : cases) {
    EXPECT_THAT(message(zip_of(path_members({wrong}))), HasSubstr(told));
  }
  EXPECT_THAT(message(zip_of(coordinates({1, 0, 2, 1}, {0, 1, 2, 1}, {1, 1, 2, 2}, 2'000'000'000))),
              HasSubstr("only 4 entries"));
}

TEST_F(ReadGraph, RefusesSizesThatDoNotHold) {
  struct Claim {
    std::int64_t more;
    bool deflated;
    bool in_64_bits;
    const char* told;
  };
  // Members that inflate to more or to less than their headers say; and claims that no data can
  // hold, which are refused before memory is taken. libzip 1.11 refuses the last two itself.
  for (const auto& [more, deflated, in_64_bits, told] :
       {Claim{-1, true, false, "does not inflate"},
        {-40, true, false, "does not inflate"},
        {1, true, false, "does not inflate"},
        {1000, true, false, "does not inflate"},
        {2'000'000'000, true, false, "claims 2000000"},
        {2'000'000'000, false, false, "claims 2000000"},
        {std::int64_t{1} << 50, false, true, "main memory"}}) {
    ZipMember claiming = path_members().back();
    claiming.deflated = deflated;
    claiming.in_64_bits = in_64_bits;
    claiming.claimed_more = more;
    EXPECT_THAT(message(zip_of(path_members({claiming}))),
                AnyOf(HasSubstr(told), HasSubstr(deflated ? told : "sizes don't match")))
        << more;
  }
}

TEST_F(ReadGraph, NeverTakesADamagedByteForAnother) {
  Members members = path_members();
  for (ZipMember& member : members) member.deflated = true;
  const std::string whole = zip_of(members);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x24);
    try {
      // Bytes that nothing is read from, as the versions in headers, may change.
      expect_path(read(damaged));
    } catch (const InputError&) {
    }
  }
}

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
