#include <gtest/gtest.h>

#include <set>

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
  const Drawing drawing = {"aaaaaabbbbbb",  //
                           "aaaaaabbbbbb",  //
                           "aaaaaabbbbbb",  //
                           "aaaabbbbbbbb",  //
                           "ccccccccdddd",  //
                           "ccccccccdddd",  //
                           "ccccccccdddd",  //
                           "ccccccdddddd"};
  const DrawnGraph graph(drawing);
  const std::vector<std::int32_t> classes = discretise(graph.eigenvectors(4), 4);
  EXPECT_THAT(drawn(12, classes), ElementsAreArray(drawing));
}

TEST(Discretise, UsesOnlyTheFirstVectors) {
  const Drawing drawing = {"aaaaaabbbbbb",  //
                           "aaaaaabbbbbb",  //
                           "aaaaaabbbbbb"};
  const DrawnGraph graph(drawing);
  EXPECT_THAT(drawn(12, discretise(graph.eigenvectors(7), 2)), ElementsAreArray(drawing));
}

TEST(Discretise, PixelsWithoutDataHaveClassZero) {
  const Drawing drawing = {"aaaa  bbbb",  //
                           "aaaa  bbbb",  //
                           " aaa  bbb "};
  const DrawnGraph graph(drawing);
  EXPECT_THAT(drawn(10, discretise(graph.eigenvectors(2), 2)), ElementsAreArray(drawing));
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

TEST(Discretise, WithFewerVectorsThanClassesMakesFewer) {
  const Drawing drawing = {"aaaabbbb",  //
                           "aaaabbbb"};
  const DrawnGraph graph(drawing);
  EXPECT_THAT(drawn(8, discretise(graph.eigenvectors(2), 5)), ElementsAreArray(drawing));
  EXPECT_THAT(drawn(8, discretise(graph.eigenvectors(1), 5)),
              ElementsAreArray({"aaaaaaaa", "aaaaaaaa"}));
}

TEST(Discretise, ClassesOfManyVectorsAreInRange) {
  // 24 x 20 pixels in 4 x 4 blocks: 30 regions.
  Drawing drawing(20, std::string(24, ' '));
  for (std::size_t y = 0; y < 20; ++y) {
    for (std::size_t x = 0; x < 24; ++x) {
      drawing[y][x] = static_cast<char>('A' + y / 4 * 6 + x / 4);
    }
  }
  const DrawnGraph graph(drawing, 0.001);
  const std::vector<std::int32_t> classes = discretise(graph.eigenvectors(30), 30);
  std::set<std::int32_t> used;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    ASSERT_GE(classes[i], 1);
    ASSERT_LE(classes[i], 30);
    used.insert(classes[i]);
    // Every pixel of a block is in the class of the block's first one.
    const std::size_t x = i % 24 / 4 * 4;
    const std::size_t y = i / 24 / 4 * 4;
    ASSERT_EQ(classes[i], classes[y * 24 + x]) << "pixel " << i;
  }
  EXPECT_EQ(used.size(), 30u);
}

TEST(Discretise, NothingHasDataOrOnePixelHas) {
  Eigenvectors none;
  none.width = 3;
  none.height = 1;
  none.sqrt_degree = {0, 0, 0};
  EXPECT_EQ(discretise(none, 4), (std::vector<std::int32_t>{0, 0, 0}));
  const DrawnGraph graph({"  a"});
  EXPECT_EQ(discretise(graph.eigenvectors(3), 2), (std::vector<std::int32_t>{0, 0, 1}));
}

}  // namespace
}  // namespace diacut::testing
