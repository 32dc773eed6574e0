// Merging by probability, against plain recomputation from labels.
#include "region/tree/learned_merging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "by_pixel.hpp"
#include "diacut/errors.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "region/arcs/borders.hpp"
#include "region/tree/hierarchy.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using ::testing::HasSubstr;

/// A boundary map of smoothed noise with colours that change slowly, and holes.
struct MergingScene {
  int width = 0;
  int height = 0;
  std::vector<float> strength;
  std::vector<std::uint8_t> valid;
  Colours colours;
};

/// A picture in colour has an embedding too: of two channels, in cells of 5 x 3 pixels.
MergingScene scene(unsigned seed, int width, int height, int channels) {
  MergingScene made{width, height, {}, {}, {channels, {}, {}}};
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(0, 1);
  made.strength = testing::by_pixel(width, height, [&](int x, int y) {
    const float wave = 0.5F + 0.5F * std::sin(0.7F * static_cast<float>(x)) *
                                  std::cos(0.5F * static_cast<float>(y));
    return 0.6F * wave * wave + 0.3F * value(random);
  });
  made.valid = testing::by_pixel(
      width, height, [&](int, int) -> std::uint8_t { return value(random) < 0.01F ? 0 : 1; });
  made.colours.values = testing::by_pixel(channels * width, height, [&](int i, int y) {
    const int slow = i / channels / 9 * 37 + y / 7 * 61 + i % channels * 90;
    return static_cast<std::uint8_t>((slow + static_cast<int>(20 * value(random))) % 256);
  });
  if (channels == 1) return made;
  Embedding& embedding = made.colours.embedding;
  embedding.channels = 2;
  embedding.columns = (width + 4) / 5;
  for (int x = 0; x < width; ++x) embedding.column_of.push_back(x / 5);
  for (int y = 0; y < height; ++y) embedding.row_of.push_back(y / 3);
  embedding.values.resize(embedding.cell(0, static_cast<std::size_t>(height + 2) / 3));
  for (std::int16_t& each : embedding.values) {
    each = static_cast<std::int16_t>(1000 * value(random) - 500);
  }
  return made;
}

StrengthTree tree_of(const MergingScene& scene) {
  return strength_tree(scene.strength, {}, scene.valid, scene.width, scene.height, 1);
}

/// Weights of all features, none of which is so large that it is limited.
MergingModel model_of_all() {
  MergingModel model{0.3, {}};
  for (std::size_t k = 0; k < kPairFeatures; ++k) {
    model.terms.push_back({static_cast<PairFeature>(k), k % 3 == 0 ? 7.0 : 4.0, 0.2, 5});
  }
  return model;
}

using LabelPair = std::pair<std::int32_t, std::int32_t>;

/// What merging knows of labels and of their boundaries, the smaller label first.
struct PlainSums {
  std::map<std::int32_t, RegionSums> regions;
  std::map<LabelPair, BoundarySums> boundaries;

  PairFeatures features(const LabelPair& pair, const MergingScene& scene) const {
    return pair_features(
        regions.at(pair.first), regions.at(pair.second), boundaries.at(pair),
        static_cast<double>(std::count(scene.valid.begin(), scene.valid.end(), 1)));
  }
};

/// Pixel by pixel; strengths and lengths from the arcs between basins.
PlainSums plain_sums(const MergingScene& scene, const StrengthTree& tree,
                     const std::vector<std::int32_t>& label) {
  PlainSums plain;
  const auto at = [&](int x, int y) {
    const bool inside = x >= 0 && y >= 0 && x < scene.width && y < scene.height;
    return inside ? label[y * scene.width + x] : -1;
  };
  for (int y = 0; y < scene.height; ++y) {
    for (int x = 0; x < scene.width; ++x) {
      const std::int32_t own = at(x, y);
      if (own < 0) continue;
      const auto i = static_cast<std::size_t>(y * scene.width + x);
      RegionSums& sums = plain.regions[own];
      ++sums.area;
      for (const auto& [u, v] :
           {std::pair(x - 1, y), std::pair(x + 1, y), std::pair(x, y - 1), std::pair(x, y + 1)}) {
        if (at(u, v) == own) continue;
        ++sums.sides;
        if (at(u, v) < own) continue;  // Each pair of pixels once.
        const float other = scene.strength[v * scene.width + u];
        const float level = std::clamp(std::max(scene.strength[i], other), 0.0F, 1.0F);
        plain.boundaries[{own, at(u, v)}].add_level(
            static_cast<std::uint32_t>(std::lround(level * 65535)));
      }
      for (int c = 0; c < scene.colours.channels; ++c) {
        const int value =
            scene.colours.values[i * static_cast<std::size_t>(scene.colours.channels) +
                                 static_cast<std::size_t>(c)];
        const int bin =
            c == 0 ? value / 16 : std::clamp((value - 68) * 2 / 15 - (value < 68), 0, 15);
        ++sums.bins[16 * c + bin];
        if (c > 0) sums.ab[c - 1] += value;
      }
      const Embedding& embedding = scene.colours.embedding;
      for (int c = 0; c < embedding.channels; ++c) {
        sums.embedding[c] += embedding.values[(y / 3 * embedding.columns + x / 5) * 2 + c];
      }
    }
  }
  std::vector<std::int32_t> of_basin(static_cast<std::size_t>(tree.basins.count) + 1, -1);
  for (std::size_t i = 0; i < label.size(); ++i) of_basin[tree.basins.values[i]] = label[i];
  for (const Arc& arc : tree.arcs) {
    const LabelPair pair = std::minmax(of_basin[arc.first], of_basin[arc.second]);
    if (pair.first == pair.second) continue;
    plain.boundaries[pair].strength += arc.strength;
    plain.boundaries[pair].length += arc.length;
  }
  return plain;
}

/// Labels by region of a graph: -1 without data.
std::vector<std::int32_t> labels_of(const StrengthTree& tree, const RegionGraph& graph) {
  return relabelled(tree.basins.values, graph.region_of_basin);
}

TEST(PairFeatures, OfASmallExample) {
  RegionSums a;
  a.area = 10;
  a.sides = 14;
  a.ab = {1300, 1280};
  a.bins[3] = 10;
  a.bins[16] = 5;
  a.bins[17] = 5;
  a.bins[40] = 10;
  a.embedding = {2560, -1280};
  RegionSums b;
  b.area = 40;
  b.sides = 28;
  b.ab = {5160, 5120};
  b.bins[3] = 40;
  b.bins[17] = 40;
  b.bins[41] = 40;
  b.embedding = {40960, 35840};
  BoundarySums boundary;
  boundary.strength = kUnitStrength;  // 0.25 times 4.
  boundary.length = 4;
  for (const std::uint32_t level : {6554U, 6554U, 13107U, 65535U}) boundary.add_level(level);
  const PairFeatures found = pair_features(b, a, boundary, 100);
  // The bins of strengths are 3, 3, 6 and 31 of 32. The embeddings are (1, -.5) and (4, 3.5).
  const PairFeatures expected = {0.25,
                                 6554.0 / 65535,
                                 3.5 / 32,
                                 4.0 / 32,
                                 31.6 / 32,
                                 std::log(4.0),
                                 4.0 / 14,
                                 4.0 / 28,
                                 std::log(0.1),
                                 std::log(0.4),
                                 1,
                                 0,
                                 0,
                                 0.5 * (0.5 + 0.25 / 1.5),
                                 1,
                                 5};
  for (std::size_t k = 0; k < kPairFeatures; ++k) {
    EXPECT_DOUBLE_EQ(found[k], expected[k]) << kPairFeatureNames[k];
  }
}

/// What merge_by_probability() adds by its description, from labels alone. Of equal probabilities
/// the order of pairs in the graph would count; there are none here.
std::vector<Merge> plain_merging(const MergingScene& scene, const StrengthTree& tree,
                                 std::size_t kept_merges, const MergingModel& model) {
  const RegionGraph graph =
      region_graph(tree.basins, tree.arcs, tree.merges, kept_merges, scene.strength, scene.colours);
  std::vector<std::int32_t> label = labels_of(tree, graph);
  std::vector<std::int32_t> node = graph.nodes;
  auto next =
      static_cast<std::int32_t>(tree.basins.count) + 1 + static_cast<std::int32_t>(kept_merges);
  PlainSums sums = plain_sums(scene, tree, label);
  std::map<LabelPair, double> logit;
  std::map<std::int32_t, std::int64_t> scored;  // The area when all boundaries were scored.
  for (const auto& [pair, boundary] : sums.boundaries) {
    logit[pair] = model.logit(sums.features(pair, scene));
  }
  for (const auto& [region, of_region] : sums.regions) scored[region] = of_region.area;
  std::vector<Merge> merges;
  double height = kStartHeight;
  while (!logit.empty()) {
    const auto least =
        std::min_element(logit.begin(), logit.end(),
                         [](const auto& p, const auto& q) { return p.second < q.second; });
    height = std::max(height, 1 / (1 + std::exp(-least->second)));
    auto [kept, lost] = least->first;
    const auto [first, second] = std::minmax(node[kept], node[lost]);
    merges.push_back({first, second, static_cast<float>(height)});
    if (sums.regions[kept].area < sums.regions[lost].area) std::swap(kept, lost);
    node[kept] = next++;
    std::replace(label.begin(), label.end(), lost, kept);
    sums = plain_sums(scene, tree, label);
    const std::int64_t area = sums.regions[kept].area;
    const bool grown =
        static_cast<double>(area) >= static_cast<double>(scored[kept]) * (1 + kMergingGrowth);
    if (grown) scored[kept] = area;
    for (const auto& [pair, boundary] : sums.boundaries) {
      const auto [a, b] = pair;
      if (a != kept && b != kept) continue;
      const bool touched = logit.contains(std::minmax(lost, a == kept ? b : a));
      if (grown || touched) logit[pair] = model.logit(sums.features(pair, scene));
    }
    std::erase_if(logit, [lost = lost](const auto& entry) {
      return entry.first.first == lost || entry.first.second == lost;
    });
  }
  return merges;
}

TEST(LearnedMerging, IsWhatItsDescriptionSays) {
  const MergingModel model = model_of_all();
  for (const unsigned seed : {1U, 2U, 3U}) {
    const MergingScene drawn = scene(seed, 32, 25, seed == 3 ? 1 : 3);
    const StrengthTree tree = tree_of(drawn);
    const std::size_t kept = seed == 1 ? 0 : tree.merges.size() / seed;
    std::vector<Merge> first(tree.merges.begin(),
                             tree.merges.begin() + static_cast<std::ptrdiff_t>(kept));
    const std::vector<Merge> found = merge_by_probability(
        region_graph(tree.basins, tree.arcs, tree.merges, kept, drawn.strength, drawn.colours),
        first, static_cast<std::int32_t>(tree.basins.count), model);
    const std::vector<Merge> wanted = plain_merging(drawn, tree, kept, model);
    ASSERT_GT(wanted.size(), 10u);
    for (std::size_t k = 0; k < kept; ++k) {
      EXPECT_FLOAT_EQ(found[k].height, first[k].height / 3);
    }
    testing::expect_same({found.begin() + static_cast<std::ptrdiff_t>(kept), found.end()}, wanted);
  }
}

TEST(LearnedMerging, MakesHierarchiesOfTheSameLeaves) {
  LearnedMerging learned{{}, load_merging_weights("")};
  std::vector<MergingScene> scenes = {scene(7, 70, 50, 3), scene(8, 70, 50, 1)};
  // Flat and tiny ones.
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(1, 7), std::pair(3, 3)}) {
    for (const float strength : {0.0F, 1.0F}) {
      scenes.push_back(scene(9, width, height, 3));
      std::fill(scenes.back().strength.begin(), scenes.back().strength.end(), strength);
      scenes.back().colours.values.assign(scenes.back().colours.values.size(), 128);
    }
  }
  RegionParameters chosen;
  chosen.threshold = 0.7;
  for (const auto& [width, height, strength, valid, colours] : scenes) {
    learned.colours = colours;
    const Hierarchy plain = hierarchy(strength, {}, valid, width, height, {});
    const Hierarchy tree = hierarchy(strength, {}, valid, width, height, {}, &learned);
    EXPECT_NO_THROW(check(tree));
    EXPECT_EQ(tree.leaves.values, plain.leaves.values);
    EXPECT_EQ(tree.merges.size(), plain.merges.size());
    EXPECT_EQ(plain.threshold, kStrengthThreshold);
    EXPECT_EQ(tree.threshold, learned.weights.threshold);
    EXPECT_EQ(hierarchy(strength, {}, valid, width, height, chosen, &learned).threshold, 0.7);
  }
}

constexpr const char* kGood = R"({"format": "diacut-merging", "version": 1, "threshold": 0.4,
  "colour": {"bias": 1, "terms": [{"feature": "chi2_a", "weight": 2, "mean": 3, "deviation": 4}]},
  "grey": {"bias": 5, "terms": []}})";

TEST(MergingWeights, AreRead) {
  const MergingWeights weights = parse_merging_weights(kGood, "good");
  EXPECT_EQ(weights.threshold, 0.4);
  EXPECT_EQ(weights.grey.bias, 5);
  ASSERT_EQ(weights.colour.terms.size(), 1u);
  PairFeatures features{};
  auto& chi = features[static_cast<std::size_t>(PairFeature::kChi2A)];
  chi = 7;
  EXPECT_DOUBLE_EQ(weights.colour.logit(features), 3);
  chi = 1000;  // 4 deviations count at most.
  EXPECT_DOUBLE_EQ(weights.colour.logit(features), 9);
}

TEST(MergingWeights, OfPicturesWithAnEmbeddingAreOthers) {
  EXPECT_FALSE(load_merging_weights("").need_embedding());
  EXPECT_TRUE(load_merging_weights("", true).need_embedding());
  const testing::TempFolder folder;
  const std::string path = folder / "weights.json";
  std::string text = kGood;
  text.replace(text.find("chi2_a"), 6, "embedding");
  std::ofstream(path) << text;
  EXPECT_TRUE(load_merging_weights(path, true).need_embedding());
  EXPECT_THAT(testing::message_of<ConfigError>([&] { load_merging_weights(path); }),
              AllOf(HasSubstr(path), HasSubstr("--weights default")));
}

}  // namespace
}  // namespace diacut
