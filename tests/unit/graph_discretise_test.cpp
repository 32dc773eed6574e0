#include <gtest/gtest.h>

#include "drawn_graph.hpp"
#include "graph/steps.hpp"
#include "matchers.hpp"
#include "region/parts.hpp"
#include "region/region.hpp"

namespace diacut::testing {
namespace {

/// Classes renamed in scan order, drawn.
Drawing drawn(int width, const std::vector<std::int32_t>& classes) {
  std::vector<std::int32_t> name(256, 0);
  std::vector<std::int32_t> renamed;
  std::int32_t next = 0;
  for (const std::int32_t c : classes) {
    if (c != 0 && name[c] == 0) name[c] = ++next;
    renamed.push_back(name[c]);
  }
  return drawing_of(width, renamed);
}

TEST(Discretise, FindsWhatWasDrawn) {
  struct Case {
    Drawing drawing;
    int vectors;
    int classes;
  };
  Drawing blocks(20, std::string(24, ' '));  // 30 of 4 x 4 pixels.
  for (std::size_t y = 0; y < 20; ++y) {
    for (std::size_t x = 0; x < 24; ++x) {
      blocks[y][x] = static_cast<char>('a' + y / 4 * 6 + x / 4);
    }
  }
  const Drawing halves = {"aaaaaabbbbbb", "aaaaaabbbbbb", "aaaaaabbbbbb"};
  for (const auto& [drawing, vectors, classes] : {Case{{"aaaaaabbbbbb",  //
                                                        "aaaaaabbbbbb",  //
                                                        "aaaaaabbbbbb",  //
                                                        "aaaabbbbbbbb",  //
                                                        "ccccccccdddd",  //
                                                        "ccccccccdddd",  //
                                                        "ccccccccdddd",  //
                                                        "ccccccdddddd"},
                                                       4,
                                                       4},
                                                  {halves, 7, 2},  // The first vectors alone.
                                                  {halves, 2, 5},  // As many as there are.
                                                  {{"aaaa  bbbb",  //
                                                    "aaaa  bbbb",  //
                                                    " aaa  bbb "},
                                                   2,
                                                   2},
                                                  {{"aaaaaaaa"}, 1, 5},
                                                  {{"  a"}, 3, 2},
                                                  {blocks, 30, 30}}) {
    const DrawnGraph graph(drawing, 0.001);
    EXPECT_EQ(drawn(graph.width(), discretise(graph.eigenvectors(vectors), classes)), drawing);
  }
}

TEST(Discretise, IsTheSameWhateverTheSignsAndTheBasisOfEqualVectors) {
  const Drawing drawing = {"aaaabbbbcccc",  //
                           "aaaabbbbcccc",  //
                           "aaaabbbbcccc"};
  const DrawnGraph graph(drawing);
  Eigenvectors vectors = graph.eigenvectors(3);
  for (std::size_t i = 0; i < vectors.sqrt_degree.size(); ++i) {
    const float a = vectors.vectors[1][i];
    const float b = vectors.vectors[2][i];
    vectors.vectors[1][i] = 0.6f * a - 0.8f * b;
    vectors.vectors[2][i] = -0.8f * a - 0.6f * b;
  }
  EXPECT_THAT(drawn(12, discretise(vectors, 3)), ElementsAreArray(drawing));
}

TEST(Discretise, NothingHasData) {
  Eigenvectors none;
  none.width = 3;
  none.height = 1;
  none.sqrt_degree = {0, 0, 0};
  EXPECT_EQ(discretise(none, 4), (std::vector<std::int32_t>{0, 0, 0}));
}

}  // namespace
}  // namespace diacut::testing
