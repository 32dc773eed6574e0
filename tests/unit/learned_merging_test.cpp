// Merging by probability, against plain recomputation from labels.
#include "region/tree/learned_merging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float wave = 0.5F + 0.5F * std::sin(0.7F * static_cast<float>(x)) *
                                    std::cos(0.5F * static_cast<float>(y));
      made.strength.push_back(0.6F * wave * wave + 0.3F * value(random));
      made.valid.push_back(value(random) < 0.01F ? 0 : 1);
      for (int c = 0; c < channels; ++c) {
        made.colours.values.push_back(static_cast<std::uint8_t>(
            (x / 9 * 37 + y / 7 * 61 + c * 90 + static_cast<int>(20 * value(random))) % 256));
      }
    }
  }
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

using Model = std::vector<std::pair<PairFeature, double>>;

MergingModel model_of(const Model& weights) {
  MergingModel model{0.3, {}};
  for (const auto& [feature, weight] : weights) model.terms.push_back({feature, weight, 0.2, 0.5});
  return model;
}

MergingModel model_of_all() {
  Model weights;
  for (std::size_t k = 0; k < kPairFeatures; ++k) {
    weights.emplace_back(static_cast<PairFeature>(k), k % 3 == 0 ? 0.7 : 0.4);
  }
  return model_of(weights);
}

/// Features of two labels, pixel by pixel. `strengths`: sums and lengths of arcs between basins.
PairFeatures plain_features(const MergingScene& scene, const StrengthTree& tree,
                            const std::vector<std::int32_t>& label, std::int32_t a,
                            std::int32_t b) {
  RegionSums sums[2];
  BoundarySums boundary;
  const auto side_of = [&](std::int32_t own) { return own == a ? 0 : own == b ? 1 : -1; };
  const auto at = [&](int x, int y) {
    const bool inside = x >= 0 && y >= 0 && x < scene.width && y < scene.height;
    return inside ? label[static_cast<std::size_t>(y * scene.width + x)] : -1;
  };
  for (int y = 0; y < scene.height; ++y) {
    for (int x = 0; x < scene.width; ++x) {
      const int side = side_of(at(x, y));
      if (side < 0) continue;
      const auto i = static_cast<std::size_t>(y * scene.width + x);
      ++sums[side].area;
      for (const auto& [u, v] :
           {std::pair(x - 1, y), std::pair(x + 1, y), std::pair(x, y - 1), std::pair(x, y + 1)}) {
        if (at(u, v) != at(x, y)) ++sums[side].sides;
        if (side_of(at(u, v)) != 1 - side) continue;
        if (side == 1) continue;  // Each pair of pixels once.
        const float other = scene.strength[static_cast<std::size_t>(v * scene.width + u)];
        const float level = std::clamp(std::max(scene.strength[i], other), 0.0F, 1.0F);
        boundary.add_level(static_cast<std::uint32_t>(std::lround(level * 65535)));
      }
      for (int c = 0; c < scene.colours.channels; ++c) {
        const int value =
            scene.colours.values[i * static_cast<std::size_t>(scene.colours.channels) +
                                 static_cast<std::size_t>(c)];
        const int bin =
            c == 0 ? value / 16 : std::clamp((value - 68) * 2 / 15 - (value < 68), 0, 15);
        ++sums[side].bins[static_cast<std::size_t>(16 * c + bin)];
        if (c > 0) sums[side].ab[static_cast<std::size_t>(c - 1)] += value;
      }
      const Embedding& embedding = scene.colours.embedding;
      for (int c = 0; c < embedding.channels; ++c) {
        sums[side].embedding[static_cast<std::size_t>(c)] +=
            embedding.values[static_cast<std::size_t>((y / 3 * embedding.columns + x / 5) * 2 + c)];
      }
    }
  }
  std::vector<std::int32_t> of_basin(static_cast<std::size_t>(tree.basins.count) + 1, -1);
  for (std::size_t i = 0; i < label.size(); ++i) of_basin[tree.basins.values[i]] = label[i];
  for (const Arc& arc : tree.arcs) {
    if (std::set{of_basin[arc.first], of_basin[arc.second]} != std::set{a, b}) continue;
    boundary.strength += arc.strength;
    boundary.length += arc.length;
  }
  const auto pixels = std::count(scene.valid.begin(), scene.valid.end(), 1);
  return pair_features(sums[0], sums[1], boundary, static_cast<double>(pixels));
}

/// Labels by region of a graph: -1 without data.
std::vector<std::int32_t> labels_of(const StrengthTree& tree, const RegionGraph& graph) {
  return relabelled(tree.basins.values, graph.region_of_basin);
}

std::set<std::pair<std::int32_t, std::int32_t>> neighbours(const MergingScene& scene,
                                                           const std::vector<std::int32_t>& label) {
  std::set<std::pair<std::int32_t, std::int32_t>> found;
  const auto width = static_cast<std::size_t>(scene.width);
  const auto add = [&](std::int32_t a, std::int32_t b) {
    if (a != b && a >= 0 && b >= 0) found.insert(std::minmax(a, b));
  };
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (i % width + 1 < width) add(label[i], label[i + 1]);
    if (i + width < label.size()) add(label[i], label[i + width]);
  }
  return found;
}

TEST(RegionGraph, HasTheSumsOfItsPixelsAfterAnyNumberOfMerges) {
  for (const int channels : {1, 3}) {
    const MergingScene drawn = scene(5, 41, 33, channels);
    const StrengthTree tree = tree_of(drawn);
    ASSERT_GT(tree.merges.size(), 20u);
    for (const std::size_t merges :
         {std::size_t{0}, tree.merges.size() / 2, tree.merges.size() - 5}) {
      const RegionGraph graph =
          region_graph(tree.basins, tree.arcs, tree.merges, merges, drawn.strength, drawn.colours);
      const std::vector<std::int32_t> label = labels_of(tree, graph);
      const auto wanted = neighbours(drawn, label);
      ASSERT_EQ(graph.pairs.size(), wanted.size());
      for (const PairOfRegions& pair : graph.pairs) {
        ASSERT_TRUE(wanted.contains({pair.first, pair.second}));
        EXPECT_EQ(pair_features(graph.regions[pair.first], graph.regions[pair.second],
                                pair.boundary, graph.pixels),
                  plain_features(drawn, tree, label, pair.first, pair.second));
      }
    }
  }
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
  const auto value = [&](PairFeature feature) { return found[static_cast<std::size_t>(feature)]; };
  EXPECT_DOUBLE_EQ(value(PairFeature::kMean), 0.25);
  EXPECT_DOUBLE_EQ(value(PairFeature::kLeast), 6554.0 / 65535);
  // The bins are 3, 3, 6 and 31 of 32.
  EXPECT_DOUBLE_EQ(value(PairFeature::kQuantile25), 3.5 / 32);
  EXPECT_DOUBLE_EQ(value(PairFeature::kQuantile50), 4.0 / 32);
  EXPECT_DOUBLE_EQ(value(PairFeature::kQuantile90), 31.6 / 32);
  EXPECT_DOUBLE_EQ(value(PairFeature::kLength), std::log(4.0));
  EXPECT_DOUBLE_EQ(value(PairFeature::kShareSmaller), 4.0 / 14);
  EXPECT_DOUBLE_EQ(value(PairFeature::kShareLarger), 4.0 / 28);
  EXPECT_DOUBLE_EQ(value(PairFeature::kAreaSmaller), std::log(0.1));
  EXPECT_DOUBLE_EQ(value(PairFeature::kAreaLarger), std::log(0.4));
  EXPECT_DOUBLE_EQ(value(PairFeature::kDifferenceA), 1);
  EXPECT_DOUBLE_EQ(value(PairFeature::kDifferenceB), 0);
  EXPECT_DOUBLE_EQ(value(PairFeature::kChi2L), 0);
  EXPECT_DOUBLE_EQ(value(PairFeature::kChi2A), 0.5 * (0.5 + 0.25 / 1.5));
  EXPECT_DOUBLE_EQ(value(PairFeature::kChi2B), 1);
  EXPECT_DOUBLE_EQ(value(PairFeature::kEmbedding), 5);  // From (1, -.5) to (4, 3.5).
}

/// merge_by_probability() by its description, from labels alone.
class PlainMerging {
 public:
  PlainMerging(const MergingScene& scene, const StrengthTree& tree, std::size_t kept,
               const MergingModel& model)
      : scene_(scene), tree_(tree), model_(model) {
    const RegionGraph graph =
        region_graph(tree.basins, tree.arcs, tree.merges, kept, scene.strength, scene.colours);
    label_ = labels_of(tree, graph);
    node_ = graph.nodes;
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(node_.size()); ++r) {
      scored_[r] = area(r);
    }
    // Of equal probabilities the order of pairs in the graph would count; there are none here.
    for (const auto& [a, b] : neighbours(scene, label_)) score(a, b);
    next_ = static_cast<std::int32_t>(tree.basins.count) + 1 + static_cast<std::int32_t>(kept);
  }

  std::vector<Merge> run() {
    std::vector<Merge> merges;
    double height = kStartHeight;
    while (!logit_.empty()) {
      const auto least =
          std::min_element(logit_.begin(), logit_.end(),
                           [](const auto& p, const auto& q) { return p.second < q.second; });
      const auto [a, b] = least->first;
      height = std::max(height, 1 / (1 + std::exp(-least->second)));
      const auto [first, second] = std::minmax(node_[a], node_[b]);
      merges.push_back({first, second, static_cast<float>(height)});
      if (area(a) < area(b)) {
        join(b, a);
      } else {
        join(a, b);
      }
    }
    return merges;
  }

 private:
  std::int64_t area(std::int32_t r) const { return std::count(label_.begin(), label_.end(), r); }
  void score(std::int32_t a, std::int32_t b) {
    logit_[std::minmax(a, b)] = model_.logit(plain_features(scene_, tree_, label_, a, b));
  }

  void join(std::int32_t kept, std::int32_t lost) {
    std::set<std::int32_t> changed;
    std::erase_if(logit_, [&](const auto& entry) {
      const auto [a, b] = entry.first;
      if (a != lost && b != lost) return false;
      changed.insert(a == lost ? b : a);
      return true;
    });
    changed.erase(kept);
    std::replace(label_.begin(), label_.end(), lost, kept);
    node_[kept] = next_++;
    const bool grown = static_cast<double>(area(kept)) >=
                       static_cast<double>(scored_[kept]) * (1 + kMergingGrowth);
    if (grown) scored_[kept] = area(kept);
    for (const auto& [a, b] : neighbours(scene_, label_)) {
      if (a != kept && b != kept) continue;
      if (grown || changed.contains(a == kept ? b : a)) score(a, b);
    }
  }

  const MergingScene& scene_;
  const StrengthTree& tree_;
  const MergingModel& model_;
  std::vector<std::int32_t> label_;
  std::vector<std::int32_t> node_;
  std::map<std::int32_t, std::int64_t> scored_;
  std::map<std::pair<std::int32_t, std::int32_t>, double> logit_;
  std::int32_t next_ = 0;
};

TEST(LearnedMerging, IsWhatItsDescriptionSays) {
  const MergingModel model = model_of_all();
  for (const unsigned seed : {1U, 2U, 3U}) {
    const MergingScene drawn = scene(seed, 32, 25, seed == 3 ? 1 : 3);
    const StrengthTree tree = tree_of(drawn);
    const std::size_t kept = tree.merges.size() / 3;
    std::vector<Merge> first(tree.merges.begin(),
                             tree.merges.begin() + static_cast<std::ptrdiff_t>(kept));
    const std::vector<Merge> found = merge_by_probability(
        region_graph(tree.basins, tree.arcs, tree.merges, kept, drawn.strength, drawn.colours),
        first, static_cast<std::int32_t>(tree.basins.count), model);
    const std::vector<Merge> wanted = PlainMerging(drawn, tree, kept, model).run();
    ASSERT_GT(wanted.size(), 10u);
    for (std::size_t k = 0; k < kept; ++k) {
      EXPECT_FLOAT_EQ(found[k].height, first[k].height / 3);
    }
    testing::expect_same({found.begin() + static_cast<std::ptrdiff_t>(kept), found.end()}, wanted);
  }
}

TEST(LearnedMerging, MakesHierarchies) {
  LearnedMerging learned{{}, load_merging_weights("")};
  for (const unsigned seed : {7U, 8U}) {
    const MergingScene drawn = scene(seed, 70, 50, seed == 7 ? 3 : 1);
    learned.colours = drawn.colours;
    const Hierarchy tree =
        hierarchy(drawn.strength, {}, drawn.valid, drawn.width, drawn.height, {}, &learned);
    EXPECT_NO_THROW(check(tree));
    EXPECT_EQ(tree.threshold, learned.weights.threshold);
    const Hierarchy plain =
        hierarchy(drawn.strength, {}, drawn.valid, drawn.width, drawn.height, {});
    EXPECT_EQ(tree.leaves.values, plain.leaves.values);
    EXPECT_EQ(tree.merges.size(), plain.merges.size());
    EXPECT_EQ(plain.threshold, kStrengthThreshold);
    RegionParameters chosen;
    chosen.threshold = 0.7;
    EXPECT_EQ(
        hierarchy(drawn.strength, {}, drawn.valid, drawn.width, drawn.height, chosen, &learned)
            .threshold,
        0.7);
  }
}

TEST(LearnedMerging, OfFlatAndTinyMaps) {
  LearnedMerging learned{{}, load_merging_weights("")};
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(1, 7), std::pair(3, 3)}) {
    const auto pixels = static_cast<std::size_t>(width * height);
    learned.colours = {3, std::vector<std::uint8_t>(3 * pixels, 128), {}};
    for (const float strength : {0.0F, 1.0F}) {
      const Hierarchy tree =
          hierarchy(std::vector<float>(pixels, strength), {}, {}, width, height, {}, &learned);
      EXPECT_NO_THROW(check(tree));
    }
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
  EXPECT_THROW(load_merging_weights(folder / "none.json"), ConfigError);
  EXPECT_THAT(testing::message_of<ConfigError>([&] { load_merging_weights(path); }),
              AllOf(HasSubstr(path), HasSubstr("--weights default")));
}

}  // namespace
}  // namespace diacut
