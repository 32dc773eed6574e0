#include "region/placement/placement.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "by_pixel.hpp"
#include "image/resize.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "region/arcs/parts.hpp"

namespace diacut::testing {
namespace {

TEST(RegionCores, AreWithoutTheOutermostLayerButConnected) {
  // Capitals are in the core, and nothing without data is.
  for (const std::vector<std::string>& rows : {std::vector<std::string>{"AAAabBBB",  //
                                                                        "AAAabBBB",  //
                                                                        "AAAabBBB"},
                                               {"AAAAAAA",  //
                                                "ABBBBbA",  //
                                                "AaaaBaA",  //
                                                "AAAABaA"},
                                               {"Aa ", "Aa ", "   "}}) {
    const std::vector<std::uint8_t> core = region_cores(drawn_labels(rows));
    std::size_t i = 0;
    for (const std::string& row : rows) {
      for (const char c : row) EXPECT_EQ(core[i++] != 0, std::isupper(c) != 0) << row;
    }
  }
  EXPECT_EQ(region_cores(drawn_labels({"AAA", "ABA", "AAA"}))[4], 1);
}

/// A ground, a bar and a disc, as scan order has them, with colours that change at their edges.
struct RegionPlacementScene {
  int width = 0;
  int height = 0;

  std::int32_t region(double x, double y) const {
    const double u = x / width;
    const double v = y / width;
    if (u > 0.6 && u < 0.9 && std::abs(v - 0.2 - 0.4 * (u - 0.6)) < 0.06) return 2;
    if (std::hypot(u - 0.3, v - 0.35) < 0.17) return 3;
    return 1;
  }
  std::vector<std::int32_t> regions() const {
    return by_pixel(width, height, [&](int x, int y) { return region(x + 0.5, y + 0.5); });
  }
  Image image() const {
    const float colours[4][3] = {{}, {0.3F, 0.4F, 0.5F}, {0.2F, 0.7F, 0.3F}, {0.8F, 0.3F, 0.2F}};
    Image image{width, height, 3, {}, {}, {}};
    for (const std::int32_t each : regions()) {
      image.pixels.insert(image.pixels.end(), colours[each], colours[each] + 3);
    }
    return image;
  }
  /// What somebody finds in a picture that is `scale` times smaller, wrong by up to `error` of its
  /// pixels.
  Labels found(int scale, double error) const {
    const int w = width / scale;
    const int h = height / scale;
    const std::vector<std::int32_t> classes = by_pixel(w, h, [&](int x, int y) {
      const double dx = error * std::sin(0.31 * x + 0.2 * y);
      const double dy = error * std::cos(0.23 * y - 0.4 * x);
      return region((x + 0.5 + dx) * scale, (y + 0.5 + dy) * scale);
    });
    return connected_parts(w, h, classes);
  }
};

/// Pixels from which the nearest pixel of the scene that has their region is further than `reach`
/// columns or rows.
int errors_beyond(int reach, const RegionPlacementScene& scene, const Labels& labels) {
  const cv::Mat found = cv::Mat(labels.values, true).reshape(1, labels.height);
  const cv::Mat truth = cv::Mat(scene.regions(), true).reshape(1, labels.height);
  int count = 0;
  for (int region = 1; region <= 3; ++region) {
    cv::Mat near;
    cv::dilate(truth == region, near, cv::Mat::ones(2 * reach + 1, 2 * reach + 1, CV_8U));
    count += cv::countNonZero((found == region) & ~near);
  }
  return count;
}

Labels placed_in(const RegionPlacementScene& scene, const Labels& found) {
  const Image image = scene.image();
  const PictureSize size{found.width, found.height};
  const std::vector<std::uint8_t> levels =
      detail_levels(detail_picture(image, size), size, {scene.width, scene.height});
  return placed(found, FullPicture{scene.width, scene.height, levels, image.valid});
}

TEST(Placement, FindsTheEdgesOfTheFullPictureWithinAPixel) {
  for (const auto& [width, scale] :
       {std::pair(480, 2), {480, 3}, {480, 4}, {480, 6}, {240, 2}, {960, 6}}) {
    const RegionPlacementScene scene{width, width * 3 / 4};
    const Labels found = scene.found(scale, 0.7);
    ASSERT_EQ(found.count, 3);
    const Labels labels = placed_in(scene, found);
    ASSERT_EQ(labels.count, 3);
    expect_labels_contract(labels, labels.width, labels.height);
    // Only the sharp corners of the bar are rounded, by two pixels at most.
    EXPECT_LE(errors_beyond(1, scene, labels), 2 * scale) << "scale " << scale;
    EXPECT_EQ(errors_beyond(2, scene, labels), 0) << "scale " << scale;
    // Of the outlines' 900 pixels in the smaller picture.
    EXPECT_LE(errors_beyond(0, scene, labels), 300 * width / 480) << "scale " << scale;
  }
}

TEST(Placement, WithoutDetailKeepsWhatWasFound) {
  const Labels found =
      drawn_labels({"AAAABBBB", "AAAABBBB", "AAAABBBB", "CCCCBBBB", "CCCCBBBB", "CCCCBBBB"});
  const std::vector<std::uint8_t> flat(24 * 18, 0);
  const Labels labels = placed(found, FullPicture{24, 18, flat, {}});
  ASSERT_EQ(labels.count, 3);
  expect_labels_contract(labels, labels.width, labels.height);
  for (int y = 0; y < 18; ++y) {
    for (int x = 0; x < 24; ++x) {
      // Pixels on either side of a boundary may go to either region.
      if (std::abs(x - 11.5) < 2 || std::abs(y - 8.5) < 2) continue;
      EXPECT_EQ(labels.values[y * 24 + x], found.values[y / 3 * 8 + x / 3]) << x << " " << y;
    }
  }
}

TEST(Placement, OfAHierarchyKeepsItsMerges) {
  Hierarchy found{drawn_labels({"AAAABBBBCCCC", "AAAABBBBCCCC", "AAAABBBBCCCC", "AAAABBBBCCCC"}),
                  {{2, 3, 0.25F}, {1, 4, 0.5F}},
                  0.3};
  const std::vector<std::uint8_t> flat(36 * 12, 7);
  const Hierarchy full = placed(found, FullPicture{36, 12, flat, {}});
  check(full);
  EXPECT_EQ(full.threshold, 0.3);
  expect_same(full.merges, {{2, 3, 0.25F}, {1, 4, 0.5F}});
}

}  // namespace
}  // namespace diacut::testing
