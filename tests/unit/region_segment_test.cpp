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

/// `drawing` segmented with `vectors` exact eigenvectors.
Segmented segmented(const Drawing& drawing, int regions, int min_size = 1, int vectors = 9) {
  DrawnGraph graph(drawing);
  return segmented(graph, graph.eigenvectors(vectors), kway(regions, min_size));
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
    int regions;
    int min_size = 1;
    int vectors = 9;
  };
  const Drawing flat(24, std::string(32, 'a'));
  for (const auto& [drawing, regions, min_size, vectors] :
       std::vector<Case>{{kFour, 0},
                         {kFour, 4},
                         // Two vectors beside the trivial one span the four indicators' plane only
                         // in part: the further cuts are found within the parts.
                         {kFour, 0, 1, 4},
                         {flat, 0, 20, 17},
                         {{"aaabbb"}, 2},
                         {{"a b"}, 0},
                         {{"   ", "   "}, 0}}) {
    EXPECT_EQ(segmented(drawing, regions, min_size, vectors).drawing, drawing);
  }
  for (const Drawing& tiny : {Drawing{"a"}, {"aaaaaaaa"}, {"a", "a", "a"}, {"aa", "aa"}}) {
    EXPECT_EQ(segmented(tiny, 0).drawing, tiny);
    EXPECT_EQ(segmented(tiny, 0, 50).drawing, tiny);
    EXPECT_EQ(segmented(tiny, 1, 50).drawing, tiny);
  }
}

TEST(SegmentRegions, MoreRegionsThanPixelsIsAnErrorThatNamesBoth) {
  EXPECT_THAT(message_of<ConfigError>([] {
                segmented({"aaa ", "aaa "}, 7);
              }),
              AllOf(HasSubstr("7 regions"), HasSubstr("6 pixels")));
}

TEST(SegmentRegions, PiecesOfDataCannotBeJoined) {
  const Segmented result = segmented({"aaa   bbb",  //
                                      "aaa   bbb",  //
                                      "         ",  //
                                      "ccc   ddd"},
                                     2);
  EXPECT_EQ(result.labels.count, 4);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_THAT(result.notes[0], HasSubstr("2 regions were asked for"));
  EXPECT_THAT(result.notes[0], HasSubstr("4 separate pieces"));
  EXPECT_THAT(result.drawing, ElementsAreArray({"aaa   bbb",  //
                                                "aaa   bbb",  //
                                                "         ",  //
                                                "ccc   ddd"}));
}

TEST(SegmentRegions, RegionsUnderTheLeastSizeJoinTheirNeighbour) {
  const Drawing drawing = {"aaaaaaaaaa",  //
                           "aabbaaaaaa",  //
                           "aabbaaaaaa",  //
                           "aaaaaaaaaa",  //
                           "cccccccccc",  //
                           "cccccccccc",  //
                           "cccccccccc"};
  EXPECT_THAT(segmented(drawing, 0, 4).drawing, ElementsAreArray(drawing));
  Drawing without = drawing;
  for (std::string& line : without) {
    std::replace(line.begin(), line.end(), 'b', 'a');
    std::replace(line.begin(), line.end(), 'c', 'b');
  }
  EXPECT_THAT(segmented(drawing, 0, 5).drawing, ElementsAreArray(without));
}

/// Two halves and between them a row of pixels that are alike to no other, as on a boundary.
DrawnGraph halves_and_boundary() {
  const Drawing drawing = {"aaaaaaaa", "aaaaaaaa", "aaaaaaaa", "bbbbbbbb",
                           "cccccccc", "cccccccc", "cccccccc"};
  DrawnGraph graph(drawing);
  const std::vector<std::int32_t> classes = classes_of(drawing);
  for (Eigen::Index i = 0; i < graph.weights().rows(); ++i) {
    for (Eigen::Index j = 0; j < graph.weights().cols(); ++j) {
      const bool on_boundary =
          classes[static_cast<std::size_t>(i)] == 2 || classes[static_cast<std::size_t>(j)] == 2;
      if (on_boundary && i != j) graph.weights()(i, j) = 0.003;
    }
  }
  return graph;
}

TEST(SegmentRegions, ABoundaryIsNoRegionOfItsOwn) {
  DrawnGraph graph = halves_and_boundary();
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
        if (cuts.labels.values[static_cast<std::size_t>(i)] != r) continue;
        volume += graph.weights()(i, j);
        if (cuts.labels.values[static_cast<std::size_t>(j)] != r) leaving += graph.weights()(i, j);
      }
    }
    sum += leaving / volume;
  }
  EXPECT_GT(sum, 0);
  // Products and degrees are floats.
  EXPECT_NEAR(cuts.normalized_cut, sum, 3 * 2 * std::numeric_limits<float>::epsilon());
}

TEST(SegmentRegions, WithTheTrivialVectorAloneEachPieceIsARegion) {
  EXPECT_THAT(segmented({"aab ", "abb ", "   a"}, 0, 1, 1).drawing,
              ElementsAreArray({"aaa ", "aaa ", "   b"}));
  EXPECT_EQ(segmented(kFour, 3, 1, 1).labels.count, 3);
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
