#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "diacut/errors.hpp"
#include "drawn_graph.hpp"
#include "matchers.hpp"
#include "region/region.hpp"

namespace diacut::testing {
namespace {

struct Segmented {
  Drawing drawing;
  Labels labels;
  std::vector<std::string> notes;
};

Segmented segmented(DrawnGraph& graph, const Eigenvectors& eigenvectors,
                    const RegionParameters& parameters) {
  Segmented result;
  result.labels = segment_regions(eigenvectors, graph, parameters, result.notes).labels;
  EXPECT_EQ(result.labels.width, graph.width());
  EXPECT_EQ(result.labels.height, graph.height());
  result.drawing = drawing_of(graph.width(), result.labels.values);
  return result;
}

RegionParameters kway(int regions, int min_size = 1) {
  RegionParameters parameters;
  parameters.regions = regions;
  parameters.method = RegionMethod::kKway;
  parameters.min_size = {LeastSize::Unit::kPixels, static_cast<double>(min_size)};
  return parameters;
}

const Drawing kFour = {"aaaaaaaabbbbbbbb",  //
                       "aaaaaaaabbbbbbbb",  //
                       "aaaaaaaabbbbbbbb",  //
                       "aaaaaaaabbbbbbbb",  //
                       "aaaaaabbbbbbbbbb",  //
                       "aaaaaabbbbbbbbbb",  //
                       "ccccccccccdddddd",  //
                       "ccccccccccdddddd",  //
                       "ccccccccccdddddd",  //
                       "ccccccccccdddddd",  //
                       "ccccccccdddddddd",  //
                       "ccccccccdddddddd"};

TEST(SegmentRegions, FindWhatWasDrawn) {
  struct Case {
    Drawing drawing;
    RegionParameters parameters;
    Drawing expected = drawing;
    int vectors = 9;
    std::vector<const char*> notes = {};
  };
  const Drawing flat(24, std::string(32, 'a'));
  const Drawing pieces = {"aaa   bbb",  //
                          "aaa   bbb",  //
                          "         ",  //
                          "ccc   ddd"};
  const Drawing hole = {"aaaaaaaaaa",  //
                        "aabbaaaaaa",  //
                        "aabbaaaaaa",  //
                        "aaaaaaaaaa",  //
                        "cccccccccc",  //
                        "cccccccccc",  //
                        "cccccccccc"};
  const Drawing filled = {"aaaaaaaaaa",  //
                          "aaaaaaaaaa",  //
                          "aaaaaaaaaa",  //
                          "aaaaaaaaaa",  //
                          "bbbbbbbbbb",  //
                          "bbbbbbbbbb",  //
                          "bbbbbbbbbb"};
  std::vector<Case> cases = {
      {kFour, kway(0)},
      {kFour, kway(4)},
      // Two vectors beside the trivial one span the four indicators' plane only in part: the
      // further cuts are found within the parts.
      {kFour, kway(0), kFour, 4},
      {flat, kway(0, 20), flat, 17},
      {{"aaabbb"}, kway(2)},
      {{"a b"}, kway(0)},
      {{"   ", "   "}, kway(0)},
      // Pieces of data cannot be joined.
      {pieces, kway(2), pieces, 9, {"2 regions were asked for", "4 separate pieces"}},
      // Regions under the least size join their neighbour.
      {hole, kway(0, 4)},
      {hole, kway(0, 5), filled},
      // With the trivial vector alone each piece is a region.
      {{"aab ", "abb ", "   a"}, kway(0), {"aaa ", "aaa ", "   b"}, 1}};
  for (const Drawing& tiny : {Drawing{"a"}, {"aaaaaaaa"}, {"a", "a", "a"}, {"aa", "aa"}}) {
    for (const RegionParameters& parameters : {kway(0), kway(0, 50), kway(1, 50)}) {
      cases.push_back({tiny, parameters});
    }
  }
  for (const auto& [drawing, parameters, expected, vectors, told] : cases) {
    DrawnGraph graph(drawing);
    const Segmented found = segmented(graph, graph.eigenvectors(vectors), parameters);
    EXPECT_EQ(found.drawing, expected);
    for (const char* part : told) EXPECT_THAT(found.notes, ElementsAre(HasSubstr(part)));
  }
}

TEST(SegmentRegions, MoreRegionsThanPixelsIsAnErrorThatNamesBoth) {
  DrawnGraph graph({"aaa ", "aaa "});
  EXPECT_THAT(message_of<ConfigError>([&] { segmented(graph, graph.eigenvectors(9), kway(7)); }),
              AllOf(HasSubstr("7 regions"), HasSubstr("6 pixels")));
}

TEST(SegmentRegions, ABoundaryIsNoRegionOfItsOwn) {
  // Two halves and between them a row of pixels that are alike to no other, as on a boundary.
  DrawnGraph graph(
      {"aaaaaaaa", "aaaaaaaa", "aaaaaaaa", "bbbbbbbb", "cccccccc", "cccccccc", "cccccccc"});
  const Eigen::VectorXd own = graph.weights().diagonal();
  graph.weights().middleRows(3 * 8, 8).setConstant(0.003);
  graph.weights().middleCols(3 * 8, 8).setConstant(0.003);
  graph.weights().diagonal() = own;
  for (const int least : {1, 4}) {
    for (const int regions : {0, 2}) {
      const Segmented result = segmented(graph, graph.eigenvectors(9), kway(regions, least));
      EXPECT_EQ(result.labels.count, 2) << "regions: " << regions << ", of at least " << least;
      EXPECT_EQ(result.drawing[2], "aaaaaaaa") << "regions: " << regions;
      EXPECT_EQ(result.drawing[4], "bbbbbbbb") << "regions: " << regions;
    }
  }
}

TEST(SegmentRegions, AsManyAsAskedForFollowBoundariesBeforeFlatAreasAreDivided) {
  // The second eigenvector rises evenly from the left to the right.
  Drawing drawing(8, std::string(28, 'a'));
  for (std::size_t y = 0; y < 3; ++y) drawing[y].replace(4, 3, "bbb");
  DrawnGraph graph(drawing, 0.05);
  EXPECT_EQ(segmented(graph, graph.eigenvectors(9), kway(2, 4)).drawing, drawing);
  EXPECT_EQ(segmented(graph, graph.eigenvectors(9), kway(3, 4)).labels.count, 3);
}

TEST(SegmentRegions, TellsTheNormalizedCut) {
  DrawnGraph graph(kFour);
  std::vector<std::string> notes;
  const DirectCuts cuts = segment_regions(graph.eigenvectors(9), graph, kway(3), notes);
  double sum = 0;
  for (std::int32_t r = 1; r <= cuts.labels.count; ++r) {
    double volume = 0;
    double leaving = 0;
    for (Eigen::Index i = 0; i < graph.weights().rows(); ++i) {
      for (Eigen::Index j = 0; j < graph.weights().cols(); ++j) {
        if (cuts.labels.values[i] != r) continue;
        volume += graph.weights()(i, j);
        if (cuts.labels.values[j] != r) leaving += graph.weights()(i, j);
      }
    }
    sum += leaving / volume;
  }
  EXPECT_GT(sum, 0);
  // Products and degrees are floats.
  EXPECT_NEAR(cuts.normalized_cut, sum, 3 * 2 * std::numeric_limits<float>::epsilon());
}

TEST(SegmentRegions, AreAsManyAsAskedForWithTheTrivialVectorAlone) {
  DrawnGraph graph(kFour);
  EXPECT_EQ(segmented(graph, graph.eigenvectors(1), kway(3)).labels.count, 3);
}

TEST(SegmentRegions, RoughVectorsStillCutAlongTheBoundaries) {
  // What a solver leaves that was stopped early: the first vectors turned among each other, with
  // noise.
  DrawnGraph graph(kFour);
  Eigenvectors rough = graph.eigenvectors(6);
  for (std::size_t k = 1; k < rough.vectors.size(); ++k) {
    for (std::size_t i = 0; i < rough.sqrt_degree.size(); ++i) {
      const double noise = static_cast<double>((i * 7919 + k * 104729) % 1000) / 1000.0 - 0.5;
      rough.vectors[k][i] += static_cast<float>(0.02 * noise);
    }
  }
  rough.report.converged = false;
  EXPECT_EQ(segmented(graph, rough, kway(0)).drawing, kFour);
}

TEST(SegmentRegions, ANanInAVectorIsAnError) {
  DrawnGraph graph(kFour);
  Eigenvectors broken = graph.eigenvectors(4);
  broken.vectors[2][17] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(segmented(graph, broken, RegionParameters{}), NumericalError);
}

TEST(SegmentRegions, TellsItsProgressAndStopsWhenAsked) {
  DrawnGraph graph(kFour);
  const Eigenvectors eigenvectors = graph.eigenvectors(6);
  std::vector<std::string> notes;
  std::vector<double> shares;
  Watch watch;
  watch.progress = [&](std::string_view stage, double share) {
    EXPECT_EQ(stage, "regions");
    shares.push_back(share);
  };
  for (const int regions : {0, 9}) {
    shares.clear();
    segment_regions(eigenvectors, graph, kway(regions), notes, watch);
    EXPECT_GT(shares.size(), 3u);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_EQ(shares.front(), 0.0);
    EXPECT_EQ(shares.back(), 1.0);
  }

  CancelToken cancel;
  watch.cancel = &cancel;
  watch.progress = [&](std::string_view, double share) {
    if (share > 0) cancel.cancel();
  };
  EXPECT_THROW(segment_regions(eigenvectors, graph, kway(9), notes, watch), CancelledError);
}

}  // namespace
}  // namespace diacut::testing
