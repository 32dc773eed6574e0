// The learned score of objects: features of nodes against plain recomputation, and the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/objects.hpp"
#include "label_checks.hpp"
#include "region/hierarchy.hpp"
#include "region/node_figures.hpp"
#include "region/object_features.hpp"

namespace diacut {
namespace {

using ::testing::HasSubstr;

struct ObjectScoreScene {
  Hierarchy tree;
  Image image;
};

/// A tree of a random boundary map with pixels without data, and an image of two channels.
ObjectScoreScene random_scene(unsigned seed, int width, int height) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> strength;
  std::vector<std::uint8_t> valid;
  ObjectScoreScene scene{{}, {width, height, 2, {}, {}, {}}};
  for (int i = 0; i < width * height; ++i) {
    strength.push_back(std::floor(uniform(random) * 5) / 5);
    valid.push_back(uniform(random) < 0.1F ? 0 : 1);
    for (int c = 0; c < 2; ++c) scene.image.pixels.push_back(uniform(random));
  }
  scene.tree = hierarchy(strength, {}, valid, width, height, {});
  return scene;
}

/// Whether each pixel lies in a node.
std::vector<char> pixels_of(const Hierarchy& tree, std::size_t node) {
  const auto leaves = static_cast<std::size_t>(tree.leaves.count);
  std::vector<char> in(leaves + 1 + tree.merges.size(), 0);
  in[node] = 1;
  for (std::size_t k = tree.merges.size(); k-- > 0;) {
    if (in[leaves + 1 + k] == 0) continue;
    in[tree.merges[k].first] = in[tree.merges[k].second] = 1;
  }
  std::vector<char> pixels;
  for (const std::int32_t leaf : tree.leaves.values) pixels.push_back(leaf != 0 && in[leaf] != 0);
  return pixels;
}

double brightness(const Image& image, std::size_t pixel) {
  return 0.5 * (static_cast<double>(image.pixels[2 * pixel]) + image.pixels[2 * pixel + 1]);
}

struct ObjectScorePlain {
  double mean = 0;
  double deviation = 0;
  double sides = 0;
  double within = 0;
  double without = 0;
};

/// Means over the pixels of a node and over the sides on its boundary, by plain loops.
ObjectScorePlain plain(const ObjectScoreScene& scene, const std::vector<char>& in) {
  const Labels& leaves = scene.tree.leaves;
  ObjectScorePlain result;
  double count = 0;
  double squares = 0;
  for (int y = 0; y < leaves.height; ++y) {
    for (int x = 0; x < leaves.width; ++x) {
      const auto i = static_cast<std::size_t>(y * leaves.width + x);
      if (in[i] == 0) continue;
      const double own = brightness(scene.image, i);
      count += 1;
      result.mean += own;
      squares += own * own;
      for (const auto& [dx, dy] : {std::pair(1, 0), {-1, 0}, {0, 1}, {0, -1}}) {
        if (x + dx < 0 || x + dx >= leaves.width || y + dy < 0 || y + dy >= leaves.height) continue;
        const auto j = static_cast<std::size_t>((y + dy) * leaves.width + x + dx);
        if (in[j] != 0 || leaves.values[j] == 0) continue;
        result.sides += 1;
        result.within += own;
        result.without += brightness(scene.image, j);
      }
    }
  }
  result.mean /= count;
  result.deviation = std::sqrt(std::max(0.0, squares / count - result.mean * result.mean));
  result.within /= std::max(result.sides, 1.0);
  result.without /= std::max(result.sides, 1.0);
  return result;
}

double median_brightness(const ObjectScoreScene& scene) {
  std::vector<double> known;
  for (std::size_t i = 0; i < scene.tree.leaves.values.size(); ++i) {
    if (scene.tree.leaves.values[i] != 0) known.push_back(brightness(scene.image, i));
  }
  std::sort(known.begin(), known.end());
  return known[known.size() / 2];
}

TEST(ObjectFeatures, EqualPlainRecomputation) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const ObjectScoreScene scene = random_scene(seed, 13, 9);
    const NodeFigures figures = node_figures(scene.tree);
    const std::vector<double> solidity = node_solidity(scene.tree, figures.area, 1000);
    const NodeMeasures measures(scene.tree, figures, solidity, scene.image);
    const double median = median_brightness(scene);
    std::vector<char> everything;
    for (const std::int32_t leaf : scene.tree.leaves.values) everything.push_back(leaf != 0);
    const double scale = plain(scene, everything).deviation + 1e-3;
    for (std::size_t k = 0; k < scene.tree.merges.size(); ++k) {
      const Merge& merge = scene.tree.merges[k];
      for (const auto& [node, sibling] :
           {std::pair(merge.first, merge.second), {merge.second, merge.first}}) {
        const auto index = static_cast<std::size_t>(node);
        const ObjectScorePlain own = plain(scene, pixels_of(scene.tree, index));
        const double beside =
            plain(scene, pixels_of(scene.tree, static_cast<std::size_t>(sibling))).mean;
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

std::string model_text(const std::string& least, const std::string& deviation,
                       std::size_t products) {
  const auto list = [](std::size_t count, const std::string& number) {
    std::string text = "[" + number;
    for (std::size_t i = 1; i < count; ++i) text += ", " + number;
    return text + "]";
  };
  std::string names;
  for (const char* name : kObjectFeatureNames) {
    names += (names.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  }
  return R"({"format": "diacut-objects", "version": 1, "least": )" + least + R"(, "features": [)" +
         names + R"(], "bias": -1, "mean": )" + list(12, "0.5") + R"(, "deviation": )" +
         list(12, deviation) + R"(, "weights": )" + list(12, "0.25") + R"(, "products": )" +
         list(products, "0.125") + "}";
}

TEST(ObjectModel, IsLogisticInFeaturesAndTheirProducts) {
  const ObjectModel model = parse_object_model(model_text("0.4", "2", 78), "x.json");
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
  try {
    parse_object_model(R"({"features": ["area"]})", "x.json");
    FAIL() << "no error was thrown";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'x.json': its features are not those"));
  }
}

/// A round spot of radius 6 with its boundary in the tree, on a ground that a line divides.
ObjectScoreScene spot(float own, float ground) {
  constexpr int kSide = 40;
  ObjectScoreScene scene{{{kSide, kSide, 3, {}}, {{1, 3, 0.05F}, {2, 4, 0.6F}}, 0.3},
                         {kSide, kSide, 2, {}, {}, {}}};
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const bool inside = (x - 20) * (x - 20) + (y - 15) * (y - 15) <= 36;
      scene.tree.leaves.values.push_back(inside ? 2 : y < 30 ? 1 : 3);
      scene.image.pixels.insert(scene.image.pixels.end(), 2, inside ? own : ground);
    }
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

TEST(NucleiScore, NeedsAnImage) {
  const ObjectScoreScene scene = spot(0.5F, 0.1F);
  std::vector<std::string> notes;
  EXPECT_THROW(find_objects(scene.tree, nuclei_conditions(), nullptr, notes), ConfigError);
}

}  // namespace
}  // namespace diacut
