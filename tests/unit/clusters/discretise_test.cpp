#include <gtest/gtest.h>

#include <map>

#include "clusters/clusters.hpp"
#include "drawn_graph.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

/// Classes renamed in scan order, drawn.
Drawing clusters_of(const Eigenvectors& eigenvectors) {
  std::vector<std::int32_t> classes = discretise(eigenvectors.vectors, eigenvectors.sqrt_degree);
  std::map<std::int32_t, std::int32_t> name = {{0, 0}};
  for (std::int32_t& each : classes) {
    each = name.emplace(each, static_cast<std::int32_t>(name.size())).first->second;
  }
  return drawing_of(eigenvectors.width, classes);
}

TEST(Discretise, FindsWhatWasDrawn) {
  struct Case {
    Drawing drawing;
    int vectors;
  };
  Drawing blocks(20, std::string(24, ' '));  // 30 of 4 x 4 pixels.
  for (std::size_t y = 0; y < 20; ++y) {
    for (std::size_t x = 0; x < 24; ++x) {
      blocks[y][x] = static_cast<char>('a' + y / 4 * 6 + x / 4);
    }
  }
  const Drawing halves = {"aaaaaabbbbbb", "aaaaaabbbbbb", "aaaaaabbbbbb"};
  const Drawing apart = {"aaaa  bbbb",  //
                         "aaaa  bbbb",  //
                         " aaa  bbb "};
  const Drawing four = {"aaaaaabbbbbb",  //
                        "aaaaaabbbbbb",  //
                        "aaaaaabbbbbb",  //
                        "aaaabbbbbbbb",  //
                        "ccccccccdddd",  //
                        "ccccccccdddd",  //
                        "ccccccccdddd",  //
                        "ccccccdddddd"};
  for (const auto& [drawing, vectors] : {Case{four, 4},
                                         {halves, 2},
                                         {apart, 2},
                                         {{"aaaaaaaa"}, 1},
                                         {{"  a"}, 3},
                                         {{"   "}, 3},
                                         {blocks, 30}}) {
    const DrawnGraph graph(drawing, 0.001);
    EXPECT_EQ(clusters_of(graph.eigenvectors(vectors)), drawing);
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
  EXPECT_THAT(clusters_of(vectors), ElementsAreArray(drawing));
}

}  // namespace
}  // namespace diacut::testing
