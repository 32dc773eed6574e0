#include <gtest/gtest.h>

#include "drawn_graph.hpp"
#include "matchers.hpp"
#include "region/parts.hpp"

namespace diacut::testing {
namespace {

Labels parts_of(const Drawing& drawing) {
  return connected_parts(static_cast<int>(drawing.front().size()), static_cast<int>(drawing.size()),
                         classes_of(drawing));
}

/// The parts that remain, drawn.
Drawing drawn(const Labels& parts, const PartGraph& graph) {
  const std::vector<std::int32_t> joined = graph.joined();
  std::vector<std::int32_t> labels;
  for (const std::int32_t part : parts.values) labels.push_back(joined[part]);
  return drawing_of(parts.width, labels);
}

TEST(ConnectedParts, AreNumberedInScanOrderHoweverTheyMeet) {
  // The arms of the u and of the spiral meet only further down.
  const Labels parts = parts_of({"x.x.xxx",  //
                                 "x.x.x.x",  //
                                 "xxx.x.x",  //
                                 "....x..",  //
                                 "xxxxx.x"});
  EXPECT_EQ(parts.count, 6);
  EXPECT_THAT(drawing_of(7, parts.values), ElementsAre("abacddd",  //
                                                       "abacded",  //
                                                       "aaacded",  //
                                                       "ccccdee",  //
                                                       "dddddef"));
}

TEST(PartGraph, ASmallPartJoinsItsStrongestNeighbour) {
  const Drawing drawing = {"xxxyzzz",  //
                           "xxxyzzz"};
  const Labels parts = parts_of(drawing);
  const std::vector<float> down(14, 1.0f);
  std::vector<float> right(14, 1.0f);
  right[2] = right[9] = 0.4f;   // x and y
  right[3] = right[10] = 0.5f;  // y and z
  PartGraph graph(parts, right, down);
  graph.join_small(3, 1);
  EXPECT_EQ(graph.count(), 2);
  EXPECT_THAT(drawn(parts, graph), ElementsAre("aaabbbb", "aaabbbb"));
}

TEST(PartGraph, AffinitiesAddUpAlongABorder) {
  // y touches x along three weak pairs and z along one strong pair.
  const Drawing drawing = {"xxxx",  //
                           "yyy ",  //
                           "zzzz"};
  const Labels parts = parts_of(drawing);
  const std::vector<float> down = {0.3f, 0.3f, 0.3f, 0.0f, 0.8f, 0.0f, 0.0f, 0.0f, 0, 0, 0, 0};
  PartGraph graph(parts, std::vector<float>(12, 1.0f), down);
  graph.join_small(4, 1);
  EXPECT_THAT(drawn(parts, graph), ElementsAre("aaaa", "aaa ", "bbbb"));
}

TEST(PartGraph, TheSmallestJoinsFirstAndGrowsOutOfBeingSmall) {
  // w joins y, which then has three pixels: enough.
  const Drawing drawing = {"wyyxxxx"};
  const Labels parts = parts_of(drawing);
  PartGraph graph(parts, std::vector<float>(7, 1.0f), std::vector<float>(7, 0.0f));
  graph.join_small(3, 1);
  EXPECT_THAT(drawn(parts, graph), ElementsAre("aaabbbb"));
}

TEST(PartGraph, NeighboursWithoutAnyAffinityJoinToo) {
  const Drawing drawing = {"yxxxx"};
  const Labels parts = parts_of(drawing);
  PartGraph graph(parts, std::vector<float>(5, 0.0f), std::vector<float>(5, 0.0f));
  graph.join_small(2, 1);
  EXPECT_EQ(graph.count(), 1);
}

TEST(PartGraph, AnIslandStays) {
  const Drawing drawing = {"y xxxx"};
  const Labels parts = parts_of(drawing);
  PartGraph graph(parts, std::vector<float>(6, 1.0f), std::vector<float>(6, 1.0f));
  graph.join_small(50, 1);
  graph.join_alike(1);
  EXPECT_THAT(drawn(parts, graph), ElementsAre("a bbbb"));
}

TEST(PartGraph, StopsAtTheNumberOfPartsThatMustRemain) {
  const Drawing drawing = {"xyzw"};
  const Labels parts = parts_of(drawing);
  PartGraph graph(parts, {0.1f, 0.2f, 0.3f, 0.0f}, std::vector<float>(4, 0.0f));
  graph.join_small(50, 3);
  EXPECT_EQ(graph.count(), 3);
  EXPECT_THAT(drawn(parts, graph), ElementsAre("aabc"));
}

TEST(PartGraph, TheMostAlikeJoinUntilTheTarget) {
  const Drawing drawing = {"xxyyzzww"};
  const Labels parts = parts_of(drawing);
  const std::vector<float> right = {1.0f, 0.2f, 1.0f, 0.7f, 1.0f, 0.5f, 1.0f, 0.0f};
  for (const auto& [target, expected] : {std::pair(4, "aabbccdd"), std::pair(3, "aabbbbcc"),
                                         std::pair(2, "aabbbbbb"), std::pair(1, "aaaaaaaa")}) {
    PartGraph graph(parts, right, std::vector<float>(8, 0.0f));
    graph.join_alike(target);
    EXPECT_EQ(graph.count(), target);
    EXPECT_THAT(drawn(parts, graph), ElementsAre(expected));
  }
}

TEST(PartGraph, EqualPartsJoinInScanOrder) {
  const Drawing drawing = {"xyzw"};
  const Labels parts = parts_of(drawing);
  PartGraph graph(parts, std::vector<float>(4, 1.0f), std::vector<float>(4, 0.0f));
  graph.join_alike(3);
  EXPECT_THAT(drawn(parts, graph), ElementsAre("aabc"));
}

}  // namespace
}  // namespace diacut::testing
