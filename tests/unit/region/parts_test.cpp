#include "region/arcs/parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "drawn_graph.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "region/arcs/borders.hpp"

namespace diacut::testing {
namespace {

Labels parts_of(const Drawing& drawing) {
  return connected_parts(static_cast<int>(drawing.front().size()), static_cast<int>(drawing.size()),
                         classes_of(drawing));
}

TEST(ConnectedParts, AreNumberedInScanOrderHoweverTheyMeet) {
  // The arms of the u and of the spiral meet only further down.
  const Labels parts = parts_of({"xyxyxxx",  //
                                 "xyxyxyx",  //
                                 "xxxyxyx",  //
                                 "yyyyxyy",  //
                                 "xxxxxyx"});
  EXPECT_EQ(parts.count, 6);
  EXPECT_THAT(drawing_of(7, parts.values), ElementsAre("abacddd",  //
                                                       "abacded",  //
                                                       "aaacded",  //
                                                       "ccccdee",  //
                                                       "dddddef"));
}

TEST(PartGraph, SmallPartsAndThoseMostAlikeJoin) {
  struct Case {
    const char* what;
    Drawing parts;
    Drawing right;  ///< The affinity of each pixel with the next one.
    Drawing down;   ///< And with the one below.
    int size;       ///< Parts of fewer pixels join; 0: those most alike do.
    int count;      ///< As long as there are more parts.
    Drawing joined;
  };
  const Drawing row = {"xxyyzzww"};
  const Drawing alike = {"92979590"};
  const Drawing none = {"00000000"};
  for (const Case& each : std::vector<Case>{
           {"the strongest neighbour",
            {"xxxyzzz", "xxxyzzz"},
            {"9945999", "9945999"},
            {"9999999", "0000000"},
            3,
            1,
            {"aaabbbb", "aaabbbb"}},
           {"affinities add up: three weak pairs and a strong one",
            {"xxxx", "yyy ", "zzzz"},
            {"9999", "9999", "9999"},
            {"3330", "8000", "0000"},
            4,
            1,
            {"aaaa", "aaa ", "bbbb"}},
           {"the smallest first, and who has grown is not small",
            {"wyyxxxx"},
            {"5999999"},
            none,
            3,
            1,
            {"aaabbbb"}},
           {"without any affinity too", {"yxxxx"}, none, none, 2, 1, {"aaaaa"}},
           {"an island stays", {"y xxxx"}, {"999999"}, {"999999"}, 50, 1, {"a bbbb"}},
           {"or it is not alike", {"y xxxx"}, {"999999"}, {"999999"}, 0, 1, {"a bbbb"}},
           {"as many as must remain", {"xyzw"}, {"1230"}, none, 50, 3, {"aabc"}},
           {"enough", row, alike, none, 0, 4, {"aabbccdd"}},
           {"the most alike", row, alike, none, 0, 3, {"aabbbbcc"}},
           {"and those that are left", row, alike, none, 0, 2, {"aabbbbbb"}},
           {"all", row, alike, none, 0, 1, {"aaaaaaaa"}},
           {"of equal ones the first", {"xyzw"}, {"9999"}, none, 0, 3, {"aabc"}}}) {
    SCOPED_TRACE(each.what);
    const Labels parts = parts_of(each.parts);
    PartGraph graph(parts, drawn_numbers(each.right, 0.1F), drawn_numbers(each.down, 0.1F));
    if (each.size > 0) {
      graph.join_small(each.size, each.count);
    } else {
      graph.join_alike(each.count);
    }
    const std::vector<std::int32_t> joined = graph.joined();
    EXPECT_EQ(graph.count(), *std::max_element(joined.begin(), joined.end()));
    EXPECT_EQ(drawing_of(parts.width, relabelled(parts.values, joined)), each.joined);
  }
}

}  // namespace
}  // namespace diacut::testing
