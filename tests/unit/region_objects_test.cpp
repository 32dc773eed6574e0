#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/objects.hpp"
#include "diacut/outlines.hpp"
#include "diacut/region_table.hpp"
#include "label_checks.hpp"
#include "region/hierarchy.hpp"
#include "region/node_figures.hpp"
#include "region/object_features.hpp"
#include "region/objects.hpp"

namespace diacut {
namespace {

using testing::drawn_labels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kRegionObjectsInfinity = std::numeric_limits<double>::infinity();

std::vector<std::string> letters(const Labels& labels) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (i % static_cast<std::size_t>(labels.width) == 0) rows.emplace_back();
    rows.back() += labels.values[i] == 0 ? '.' : static_cast<char>('A' + labels.values[i] - 1);
  }
  return rows;
}

/// B and C are the halves of a rectangle on the ground A, D is an angle on it.
Hierarchy rectangle_and_angle() {
  return {drawn_labels({"AAAAAAAAAA",  //
                        "ABBCCADDDA",  //
                        "ABBCCADAAA",  //
                        "AAAAAADAAA"}),
          {{2, 3, 0.25F}, {1, 4, 0.5F}, {5, 6, 0.75F}},
          0.3};
}

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

LeastSize pixels(double value) { return {LeastSize::Unit::kPixels, value}; }

Hierarchy random_tree(std::mt19937& random, int width, int height) {
  std::vector<float> strength(static_cast<std::size_t>(width * height));
  std::vector<std::uint8_t> valid;
  const bool holes = random() % 3 == 0;
  for (float& s : strength) {
    s = static_cast<float>(random() % 5) / 4;
    if (holes) valid.push_back(random() % 5 == 0 ? 0 : 1);
  }
  return hierarchy(strength, {}, valid, width, height, {});
}

/// The leaves below each node, as bits.
std::vector<std::uint32_t> leaves_below(const Hierarchy& tree) {
  std::vector<std::uint32_t> below(1, 0);
  for (int leaf = 0; leaf < tree.leaves.count; ++leaf) below.push_back(1U << leaf);
  for (const Merge& merge : tree.merges) below.push_back(below[merge.first] | below[merge.second]);
  return below;
}

/// The greatest sum of the scores of nodes that do not overlap, over all sets of nodes.
double greatest_sum(const std::vector<std::uint32_t>& below, const std::vector<double>& score) {
  double greatest = 0;
  const std::size_t nodes = score.size() - 1;
  for (std::uint32_t set = 0; set < (1U << nodes); ++set) {
    std::uint32_t taken = 0;
    double sum = 0;
    bool apart = true;
    for (std::size_t node = 1; node <= nodes && apart; ++node) {
      if ((set >> (node - 1) & 1) == 0) continue;
      apart = (taken & below[node]) == 0;
      taken |= below[node];
      sum += score[node];
    }
    if (apart) greatest = std::max(greatest, sum);
  }
  return greatest;
}

TEST(Objects, BestNodesAreThoseOfEverySetOfNodes) {
  std::mt19937 random(7);
  int trees = 0;
  while (trees < 60) {
    const Hierarchy tree = random_tree(random, 4, 3);
    const std::vector<std::uint32_t> below = leaves_below(tree);
    if (below.size() > 14) continue;
    ++trees;
    // Small integers, so that sums are exact and equal ones are frequent.
    std::vector<double> score(below.size(), 0);
    for (double& s : score) s = static_cast<int>(random() % 7) - 1;
    const std::vector<std::int32_t> nodes = best_nodes(tree, score);
    double sum = 0;
    std::uint32_t taken = 0;
    for (const std::int32_t node : nodes) {
      EXPECT_GT(score[node], 0);
      EXPECT_EQ(taken & below[node], 0U);
      taken |= below[node];
      sum += score[node];
    }
    EXPECT_EQ(sum, greatest_sum(below, score));
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
    const Hierarchy tree = random_tree(random, 12 + trial, 9);
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

TEST(Objects, MeetTheConditions) {
  EXPECT_THAT(found({}), ElementsAre("..........", ".AAAA.....", ".AAAA.....", ".........."));
  ObjectConditions conditions;
  conditions.contrast.high = 0.3;
  EXPECT_THAT(found(conditions),
              ElementsAre("..........", ".AABB.....", ".AABB.....", ".........."));
  conditions.contrast = {0.3, 1};
  conditions.solidity.low = 0.7;
  conditions.greatest_area = pixels(8);
  EXPECT_THAT(found(conditions),
              ElementsAre("..........", ".AAAA.BBB.", ".AAAA.B...", "......B..."));
  conditions.greatest_area = LeastSize{LeastSize::Unit::kShare, 0.125};
  EXPECT_THAT(found(conditions),
              ElementsAre("..........", "......AAA.", "......A...", "......A..."));
  conditions.least_area = pixels(6);
  conditions.greatest_area = pixels(7);
  EXPECT_THAT(found(conditions),
              ElementsAre("..........", "..........", "..........", ".........."));
}

TEST(Objects, BrightnessIsThatBesideTheSibling) {
  const Hierarchy tree = rectangle_and_angle();
  Image image{tree.leaves.width, tree.leaves.height, 2, {}, {}, {}};
  for (const std::int32_t leaf : tree.leaves.values) {
    // Two channels, whose means are .5, .25, .25 and .75.
    const float mean = leaf == 1 ? 0.5F : leaf == 4 ? 0.75F : 0.25F;
    image.pixels.insert(image.pixels.end(), {mean - 0.125F, mean + 0.125F});
  }
  const NodeFigures figures = node_figures(tree);
  const std::vector<double> solidity(figures.area.size(), 0.0);
  const NodeMeasures measures(tree, figures, solidity, image);
  EXPECT_DOUBLE_EQ(measures.above_sibling(4), 0.25);
  EXPECT_DOUBLE_EQ(measures.above_sibling(1), -0.25);
  EXPECT_DOUBLE_EQ(measures.above_sibling(2), 0);
  EXPECT_DOUBLE_EQ(measures.above_sibling(5), 0.25 - (27 * 0.5 + 5 * 0.75) / 32);
  EXPECT_DOUBLE_EQ(measures.above_sibling(7), 0);
  ObjectConditions conditions = any();
  conditions.greatest_area = pixels(10);
  conditions.brightness.low = 0.2;
  EXPECT_THAT(found(conditions, &image),
              ElementsAre("..........", "......AAA.", "......A...", "......A..."));
  conditions.brightness = {-kRegionObjectsInfinity, -0.2};
  EXPECT_THAT(found(conditions, &image),
              ElementsAre("..........", ".AAAA.....", ".AAAA.....", ".........."));
  EXPECT_THROW(found(conditions), ConfigError);
  image.width = 5;
  image.height = 8;
  EXPECT_THROW(found(conditions, &image), InputError);
}

TEST(Objects, ConditionsThatHoldNothingAreRefused) {
  const auto refused = [](const ObjectConditions& conditions) -> std::string {
    try {
      found(conditions);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  ObjectConditions conditions = any();
  conditions.least_area = pixels(20);
  conditions.greatest_area = LeastSize{LeastSize::Unit::kShare, 0.25};
  EXPECT_THAT(refused(conditions), HasSubstr("area in pixels of objects is from 20 to 10"));
  conditions = any();
  conditions.least_area = LeastSize{};
  EXPECT_THAT(refused(conditions), HasSubstr("auto"));
  conditions = any();
  conditions.solidity = {0.9, 0.8};
  EXPECT_THAT(refused(conditions), HasSubstr("solidity"));
  conditions = any();
  conditions.contrast.high = -1;
  EXPECT_THAT(refused(conditions), HasSubstr("contrast"));
  conditions.contrast = {std::numeric_limits<double>::quiet_NaN(), 1};
  EXPECT_THAT(refused(conditions), HasSubstr("contrast"));
}

/// The inside map of an image with these digits, in eighths.
std::vector<float> inside_of(const std::vector<std::string>& rows) {
  std::vector<float> map;
  for (const std::string& row : rows) {
    for (const char digit : row) map.push_back(static_cast<float>(digit - '0') / 8);
  }
  return map;
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
  const std::vector<float> inside = inside_of({"22483",  //
                                               "22443",  //
                                               "77703"});
  std::vector<std::string> notes;
  const auto rows = [&](double above, double pixels) {
    return letters(objects_of_regions(regions, inside, objects_above(above, pixels), notes));
  };
  // Means of 2/8, 5/8, 3/8 and 7/8.
  EXPECT_THAT(rows(0.5, 1), ElementsAre("..AA.", "..AA.", "BBB.."));
  EXPECT_THAT(rows(0.625, 1), ElementsAre(".....", ".....", "AAA.."));
  EXPECT_THAT(rows(0.3, 1), ElementsAre("..AAB", "..AAB", "CCC.B"));
  EXPECT_THAT(rows(0.3, 4), ElementsAre("..AA.", "..AA.", "....."));
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(rows(0.9, 1), ElementsAre(".....", ".....", "....."));
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

}  // namespace
}  // namespace diacut
