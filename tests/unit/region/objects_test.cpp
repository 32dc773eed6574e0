// The learned score of objects: features of nodes against plain recomputation, and the model.
#include "diacut/objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numbers>
#include <opencv2/core.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "by_pixel.hpp"
#include "diacut/errors.hpp"
#include "diacut/outlines.hpp"
#include "diacut/region_table.hpp"
#include "drawn_image.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "refusal.hpp"
#include "region/cuts/leaf_cut.hpp"
#include "region/objects/object_features.hpp"
#include "region/tree/hierarchy.hpp"

namespace diacut::testing {
namespace {

/// No condition at all.
ObjectConditions any() {
  ObjectConditions conditions;
  conditions.solidity = conditions.contrast = {};
  return conditions;
}

std::vector<std::string> found(const ObjectConditions& conditions, const Image* image = nullptr) {
  std::vector<std::string> notes;
  const Labels objects = find_objects(rectangle_and_angle(), conditions, image, notes);
  EXPECT_EQ(notes.empty(), objects.count > 0);
  return letters(objects);
}

struct ObjectScoreScene {
  Hierarchy tree;
  Image image;
};

/// A tree of a random boundary map, sometimes with pixels without data, and an image of two
/// channels.
ObjectScoreScene random_scene(std::mt19937& random, int width, int height) {
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> strength;
  std::vector<std::uint8_t> valid;
  ObjectScoreScene scene{{}, {width, height, 2, {}, {}, {}}};
  const bool holes = random() % 3 == 0;
  for (int i = 0; i < width * height; ++i) {
    strength.push_back(static_cast<float>(random() % 5) / 4);
    if (holes) valid.push_back(random() % 5 == 0 ? 0 : 1);
    for (int c = 0; c < 2; ++c) scene.image.pixels.push_back(uniform(random));
  }
  scene.tree = hierarchy(strength, {}, valid, width, height, {});
  return scene;
}

/// The leaves below each node, as bits.
std::vector<std::uint32_t> leaves_below(const Hierarchy& tree) {
  std::vector<std::uint32_t> below(1, 0);
  for (int leaf = 0; leaf < tree.leaves.count; ++leaf) below.push_back(1U << leaf);
  for (const Merge& merge : tree.merges) below.push_back(below[merge.first] | below[merge.second]);
  return below;
}

/// The sum of the scores of a set of nodes, whose bits are set; nothing if two of them overlap.
std::optional<double> sum_of(std::uint32_t set, const std::vector<std::uint32_t>& below,
                             const std::vector<double>& score) {
  std::uint32_t taken = 0;
  double sum = 0;
  for (std::size_t node = 1; node < score.size(); ++node) {
    if ((set >> node & 1) == 0) continue;
    if ((taken & below[node]) != 0) return {};
    taken |= below[node];
    sum += score[node];
  }
  return sum;
}

TEST(Objects, BestNodesAreThoseOfEverySetOfNodes) {
  std::mt19937 random(7);
  int trees = 0;
  while (trees < 60) {
    const Hierarchy tree = random_scene(random, 4, 3).tree;
    const std::vector<std::uint32_t> below = leaves_below(tree);
    if (below.size() > 14) continue;
    ++trees;
    // Small integers, so that sums are exact and equal ones are frequent.
    std::vector<double> score(below.size(), 0);
    for (double& s : score) s = static_cast<int>(random() % 7) - 1;
    const std::vector<std::int32_t> nodes = best_nodes(tree, score);
    std::uint32_t chosen = 0;
    for (const std::int32_t node : nodes) {
      EXPECT_GT(score[node], 0);
      chosen |= 1U << node;
    }
    double greatest = 0;
    for (std::uint32_t set = 0; set < (1U << score.size()); set += 2) {  // Node 0 is none.
      greatest = std::max(greatest, sum_of(set, below, score).value_or(0));
    }
    EXPECT_EQ(sum_of(chosen, below, score), greatest);
    const Labels labels = labels_of_nodes(tree, nodes);
    EXPECT_EQ(labels.count, static_cast<std::int64_t>(nodes.size()));
  }
}

TEST(Objects, ANodeThatScoresAsMuchAsItsPartsIsTakenWhole) {
  const Hierarchy tree = rectangle_and_angle();
  EXPECT_THAT(best_nodes(tree, {0, 0, 1, 2, 0, 3, 0, 0}), ElementsAre(5));
  EXPECT_THAT(best_nodes(tree, {0, 0, 1, 2, 0, 2.5, 0, 0}), ElementsAre(2, 3));
  EXPECT_THAT(best_nodes(tree, {0, 0, 0, 0, 0, 0, 0, 0}), IsEmpty());
  EXPECT_THAT(best_nodes(tree, {0, 1, 1, 1, 1, 1, 1, 4}), ElementsAre(7));
}

TEST(Objects, SolidityIsThatOfTheTableForEveryNode) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Hierarchy tree = random_scene(random, 12 + trial, 9).tree;
    const NodeFigures figures = node_figures(tree);
    const std::vector<double> solidity = node_solidity(tree, figures.area, 1000);
    for (std::size_t node = 1; node < solidity.size(); ++node) {
      const Labels alone = labels_of_nodes(tree, {static_cast<std::int32_t>(node)});
      const RegionTable table = measure_regions(alone, trace_outlines(alone), nullptr);
      ASSERT_EQ(table.regions.size(), 1U);
      EXPECT_EQ(figures.area[node], table.regions[0].area);
      EXPECT_DOUBLE_EQ(solidity[node], table.regions[0].solidity);
    }
  }
}

TEST(Objects, FiguresOfNodes) {
  const Hierarchy tree = rectangle_and_angle();
  const NodeFigures figures = node_figures(tree);
  EXPECT_THAT(figures.area, ElementsAre(0, 27, 4, 4, 5, 8, 32, 40));
  EXPECT_THAT(figures.contrast, ElementsAre(-1, 0.5F, 0.25F, 0.25F, 0.5F, 0.5F, 0.25F, -1));
  const std::vector<double> solidity = node_solidity(tree, figures.area, 8);
  // The hull of the angle of five unit squares leaves out one corner of 3 x 3, a triangle of 2.
  EXPECT_THAT(solidity, ElementsAre(0, 0, 1, 1, 5 / 7.0, 1, 0, 0));
}

TEST(Objects, BrightnessNeedsASiblingAndAnImageOfTheTreesSize) {
  const Hierarchy tree = rectangle_and_angle();
  Image image = grey_image(tree.leaves.width, tree.leaves.height);
  const NodeFigures figures = node_figures(tree);
  const std::vector<double> solidity(figures.area.size(), 0.0);
  EXPECT_EQ(NodeMeasures(tree, figures, solidity, image).above_sibling(7), 0) << "no sibling";
  ObjectConditions bright = any();
  bright.brightness.low = 0.2;
  std::swap(image.width, image.height);
  for (const ObjectConditions& conditions : {bright, nuclei_conditions()}) {
    EXPECT_THROW(found(conditions), ConfigError);
    EXPECT_THROW(found(conditions, &image), InputError);
  }
}

TEST(Objects, ConditionsThatHoldNothingAreRefused) {
  using Conditions = ObjectConditions&;
  const std::pair<void (*)(Conditions), const char*> cases[] = {
      {[](Conditions c) { c.least_area = LeastSize{}; }, "auto"},
      {[](Conditions c) {
         c.solidity = {0.9, 0.8};
       },
       "solidity"},
      {[](Conditions c) { c.contrast.high = -1; }, "contrast"},
      {[](Conditions c) {
         c.contrast = {std::nan(""), 1};
       },
       "contrast"}};
  for (const auto& [spoil, told] : cases) {
    ObjectConditions conditions = any();
    spoil(conditions);
    expect_refused<ConfigError>([&] { found(conditions); }, told);
  }
}

RegionParameters objects_above(double inside, double pixels) {
  RegionParameters parameters;
  parameters.method = RegionMethod::kObjects;
  parameters.inside = inside;
  parameters.min_size = {LeastSize::Unit::kPixels, pixels};
  return parameters;
}

TEST(ObjectsOfRegions, AreThoseWhoseMeanIsAbove) {
  const Labels regions = drawn_labels({"AABBC",  //
                                       "AABBC",  //
                                       "DDD C"});
  const std::vector<float> inside = drawn_numbers({"22483", "22443", "77703"}, 0.125F);
  std::vector<std::string> notes;
  const auto rows = [&](double above, double pixels) {
    return letters(objects_of_regions(regions, inside, objects_above(above, pixels), notes));
  };
  // Means of 2/8, 5/8, 3/8 and 7/8.
  EXPECT_THAT(rows(0.5, 1), ElementsAre("  AA ", "  AA ", "BBB  "));
  EXPECT_THAT(rows(0.625, 1), ElementsAre("     ", "     ", "AAA  "));
  EXPECT_THAT(rows(0.3, 1), ElementsAre("  AAB", "  AAB", "CCC B"));
  EXPECT_THAT(rows(0.3, 4), ElementsAre("  AA ", "  AA ", "     "));
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(rows(0.9, 1), ElementsAre("     ", "     ", "     "));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("There is no object")));
}

TEST(ObjectsOfRegions, SumsDoNotDependOnTheOrderOfPixels) {
  const Labels regions = drawn_labels({"AAA BBB"});
  const std::vector<float> inside = {1.0F, 0.3F, 1e-9F, 0.5F, 1e-9F, 0.3F, 1.0F};
  const double expected = 0x1p24 + std::round(0.3F * 0x1p24);
  EXPECT_THAT(inside_sums(regions, inside), ElementsAre(0x1p23, expected, expected));
}

TEST(ObjectsOfRegions, NeedAMapOfTheirSize) {
  std::vector<std::string> notes;
  EXPECT_THROW(objects_of_regions(drawn_labels({"AB"}), std::vector<float>{1.0F},
                                  objects_above(0.5, 1), notes),
               InputError);
  EXPECT_THROW(inside_sums(drawn_labels({"AB"}), std::vector<float>{1.0F}), InputError);
}

/// The mean of both channels.
cv::Mat1d brightness(const ObjectScoreScene& scene) {
  cv::Mat pixels;
  cv::Mat(scene.image.pixels, true).reshape(2, scene.image.height).convertTo(pixels, CV_64F);
  cv::transform(pixels, pixels, cv::Matx12d(0.5, 0.5));
  return pixels;
}

cv::Mat pixels_with_label(const Labels& labels) {
  return cv::Mat(labels.values, true).reshape(1, labels.height) != 0;
}

struct ObjectScorePlain {
  double mean = 0;
  double deviation = 0;
  double sides = 0;
  double within = 0;
  double without = 0;
};

/// Means over the pixels of a node, which have labels, and over the sides on its boundary.
ObjectScorePlain plain(const ObjectScoreScene& scene, const Labels& node) {
  const cv::Mat1d own = brightness(scene);
  const cv::Mat in = pixels_with_label(node);
  const cv::Mat out = pixels_with_label(scene.tree.leaves) & ~in;
  cv::Scalar mean;
  cv::Scalar deviation;
  cv::meanStdDev(own, mean, deviation, in);
  ObjectScorePlain result{mean[0], deviation[0]};
  cv::Mat1d other;
  cv::Mat beyond;
  cv::copyMakeBorder(own, other, 1, 1, 1, 1, cv::BORDER_CONSTANT);
  cv::copyMakeBorder(out, beyond, 1, 1, 1, 1, cv::BORDER_CONSTANT);
  for (const auto& [x, y] : {std::pair(0, 1), {2, 1}, {1, 0}, {1, 2}}) {
    const cv::Rect moved(cv::Point(x, y), own.size());
    const cv::Mat across = in & beyond(moved);
    const int sides = cv::countNonZero(across);
    result.sides += sides;
    result.within += sides * cv::mean(own, across)[0];
    result.without += sides * cv::mean(other(moved), across)[0];
  }
  result.within /= std::max(result.sides, 1.0);
  result.without /= std::max(result.sides, 1.0);
  return result;
}

double median_brightness(const ObjectScoreScene& scene) {
  cv::Mat1d known = brightness(scene);
  known.setTo(-1, ~pixels_with_label(scene.tree.leaves));
  std::sort(known.begin(), known.end());
  const auto first = std::lower_bound(known.begin(), known.end(), 0.0);
  return first[(known.end() - first) / 2];
}

TEST(ObjectFeatures, EqualPlainRecomputation) {
  std::mt19937 random(1);
  for (int round = 0; round < 6; ++round) {
    const ObjectScoreScene scene = random_scene(random, 13, 9);
    const NodeFigures figures = node_figures(scene.tree);
    const std::vector<double> solidity = node_solidity(scene.tree, figures.area, 1000);
    const NodeMeasures measures(scene.tree, figures, solidity, scene.image);
    const double median = median_brightness(scene);
    const double scale = plain(scene, scene.tree.leaves).deviation + 1e-3;
    const auto plain_of = [&](std::int32_t node) {
      return plain(scene, labels_of_nodes(scene.tree, {node}));
    };
    for (std::size_t k = 0; k < scene.tree.merges.size(); ++k) {
      const Merge& merge = scene.tree.merges[k];
      for (const auto& [node, sibling] :
           {std::pair(merge.first, merge.second), {merge.second, merge.first}}) {
        const auto index = static_cast<std::size_t>(node);
        const ObjectScorePlain own = plain_of(node);
        const double beside = plain_of(sibling).mean;
        const auto area = static_cast<double>(figures.area[index]);
        const double sides = std::max(own.sides, 1.0);
        const double roundness = 64 * area / (std::numbers::pi * sides * sides);
        const ObjectFeatures expected = {figures.contrast[index],
                                         merge.height,
                                         solidity[index],
                                         std::log(area),
                                         own.mean - beside,
                                         own.within - own.without,
                                         own.mean - own.without,
                                         own.deviation,
                                         (own.mean - median) / scale,
                                         (own.mean - own.without) / scale,
                                         (own.without - median) / scale,
                                         roundness};
        const ObjectFeatures bright = measures.features(index, Polarity::kBright);
        const ObjectFeatures dark = measures.features(index, Polarity::kDark);
        for (std::size_t f = 0; f < kObjectFeatures; ++f) {
          // A variance of nearly 0 is off by some roundings of squares, its root by 1e-7.
          EXPECT_NEAR(bright[f], expected[f], 1e-6) << kObjectFeatureNames[f] << " of " << node;
          const bool is_signed = f >= 4 && f <= 10 && f != 7;
          EXPECT_EQ(dark[f], is_signed ? -bright[f] : bright[f]) << kObjectFeatureNames[f];
        }
      }
    }
  }
}

TEST(ObjectModel, IsLogisticInFeaturesAndTheirProducts) {
  const auto all = [](double number) { return std::vector<double>(kObjectFeatures, number); };
  const nlohmann::json text = {{"format", "diacut-objects"},
                               {"version", 1},
                               {"least", 0.4},
                               {"features", kObjectFeatureNames},
                               {"bias", -1},
                               {"mean", all(0.5)},
                               {"deviation", all(2)},
                               {"weights", all(0.25)},
                               {"products", std::vector<double>(78, 0.125)}};
  const ObjectModel model = parse_object_model(text.dump(), "x.json");
  EXPECT_EQ(model.least, 0.4);
  ObjectFeatures features;
  features.fill(0.5);
  EXPECT_DOUBLE_EQ(model.probability(features), 1 / (1 + std::exp(1)));
  features[3] = 2.5;  // One deviation: its weight and the product with itself.
  EXPECT_DOUBLE_EQ(model.probability(features), 1 / (1 + std::exp(1 - 0.25 - 0.125)));
  features[7] = -1.5;
  EXPECT_DOUBLE_EQ(model.probability(features), 1 / (1 + std::exp(1 - 0.125)));
  features[7] = 0.5;
  features[3] = 1e30;  // Limited to four deviations.
  EXPECT_DOUBLE_EQ(model.probability(features), 1 / (1 + std::exp(1 - 4 * 0.25 - 16 * 0.125)));
}

TEST(ObjectModel, OfOtherFeaturesIsRefused) {
  expect_refused<ConfigError>([] { parse_object_model(R"({"features": ["area"]})", "x.json"); },
                              "'x.json': its features are not those");
}

/// A round spot of radius 6 with its boundary in the tree, on a ground that a line divides.
ObjectScoreScene spot(float own, float ground) {
  constexpr int kSide = 40;
  ObjectScoreScene scene{{{kSide, kSide, 3, {}}, {{1, 3, 0.05F}, {2, 4, 0.6F}}, 0.3},
                         {kSide, kSide, 2, {}, {}, {}}};
  scene.tree.leaves.values = by_pixel(kSide, kSide, [](int x, int y) {
    return (x - 20) * (x - 20) + (y - 15) * (y - 15) <= 36 ? 2 : y < 30 ? 1 : 3;
  });
  for (const std::int32_t leaf : scene.tree.leaves.values) {
    scene.image.pixels.insert(scene.image.pixels.end(), 2, leaf == 2 ? own : ground);
  }
  check(scene.tree);
  return scene;
}

TEST(NucleiScore, FindsBrightAndDarkSpots) {
  for (const auto& [own, ground] : {std::pair(0.45F, 0.1F), {0.3F, 0.8F}}) {
    const ObjectScoreScene scene = spot(own, ground);
    std::vector<std::string> notes;
    const auto find = [&](const Interval& brightness) {
      ObjectConditions conditions = nuclei_conditions();
      conditions.brightness = brightness;
      notes.clear();
      return find_objects(scene.tree, conditions, &scene.image, notes);
    };
    const Labels objects = find({});
    EXPECT_EQ(objects.count, 1);
    EXPECT_EQ(std::count(objects.values.begin(), objects.values.end(), 1), 113);
    EXPECT_EQ(objects.values[15 * 40 + 20], 1);
    EXPECT_TRUE(notes.empty());
    Interval wrong;
    (own > ground ? wrong.high : wrong.low) = own > ground ? -0.01 : 0.01;
    EXPECT_EQ(find(wrong).count, 0);
    EXPECT_EQ(notes.size(), 1U);
  }
}

}  // namespace
}  // namespace diacut::testing
