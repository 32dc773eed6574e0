#include <gtest/gtest.h>

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
#include "region/placement/placement.hpp"

namespace diacut::testing {
namespace {

/// The core's pixels as they are drawn, others as dots.
std::vector<std::string> cores(const std::vector<std::string>& rows) {
  std::vector<std::string> result = rows;
  const std::vector<std::uint8_t> core = region_cores(drawn_labels(rows));
  std::size_t i = 0;
  for (std::string& row : result) {
    for (char& c : row) c = core[i++] != 0 ? c : '.';
  }
  return result;
}

TEST(RegionCores, AreWithoutTheOutermostLayer) {
  EXPECT_THAT(cores({"AAAABBBB",  //
                     "AAAABBBB",  //
                     "AAAABBBB"}),
              ElementsAre("AAA..BBB",  //
                          "AAA..BBB",  //
                          "AAA..BBB"));
}

TEST(RegionCores, KeepThinRegionsConnected) {
  EXPECT_THAT(cores({"AAAAAAA",  //
                     "ABBBBBA",  //
                     "AAAABAA",  //
                     "AAAABAA"}),
              ElementsAre("AAAAAAA",  //
                          "ABBBB.A",  //
                          "A...B.A",  //
                          "AAAAB.A"));
  EXPECT_THAT(cores({"AAA", "ABA", "AAA"}), ElementsAre(::testing::_, "ABA", ::testing::_));
}

TEST(RegionCores, HaveNothingWithoutData) {
  EXPECT_THAT(cores({"AA ", "AA ", "   "}), ElementsAre("A..", "A..", "..."));
}

const std::vector<std::uint8_t> kEverywhere;  // No mask.

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
  const RegionPlacementScene scene{480, 360};
  for (const int scale : {2, 3, 4, 6}) {
    const Labels found = scene.found(scale, 0.7);
    ASSERT_EQ(found.count, 3);
    const Labels labels = placed_in(scene, found);
    ASSERT_EQ(labels.count, 3);
    testing::expect_labels_contract(labels, labels.width, labels.height);
    // Only the sharp corners of the bar are rounded, by two pixels at most.
    EXPECT_LE(errors_beyond(1, scene, labels), 2 * scale) << "scale " << scale;
    EXPECT_EQ(errors_beyond(2, scene, labels), 0) << "scale " << scale;
    // Of the outlines' 900 pixels.
    EXPECT_LE(errors_beyond(0, scene, labels), 300) << "scale " << scale;
  }
}

TEST(Placement, OfTwoSizesIsTheSameScene) {
  const RegionPlacementScene small{240, 180};
  const RegionPlacementScene large{960, 720};
  const Labels found = small.found(2, 0.5);
  const Labels at_small = placed_in(small, found);
  const Labels at_large = placed_in(large, found);
  ASSERT_EQ(at_small.count, at_large.count);
  int different = 0;
  for (int y = 0; y < large.height; ++y) {
    for (int x = 0; x < large.width; ++x) {
      const auto i = static_cast<std::size_t>(y / 4 * small.width + x / 4);
      const auto j = static_cast<std::size_t>(y * large.width + x);
      different += at_small.values[i] != at_large.values[j] ? 1 : 0;
    }
  }
  // The outlines are about 2000 pixels long in the large picture.
  EXPECT_LT(different, 2500);
}

TEST(Placement, WithoutDetailKeepsWhatWasFound) {
  const Labels found =
      drawn_labels({"AAAABBBB", "AAAABBBB", "AAAABBBB", "CCCCBBBB", "CCCCBBBB", "CCCCBBBB"});
  const std::vector<std::uint8_t> flat(24 * 18, 0);
  const Labels labels = placed(found, FullPicture{24, 18, flat, kEverywhere});
  ASSERT_EQ(labels.count, 3);
  testing::expect_labels_contract(labels, labels.width, labels.height);
  for (int y = 0; y < 18; ++y) {
    for (int x = 0; x < 24; ++x) {
      // Pixels on either side of a boundary may go to either region.
      if (std::abs(x - 11.5) < 2 || std::abs(y - 8.5) < 2) continue;
      EXPECT_EQ(labels.values[static_cast<std::size_t>(y * 24 + x)],
                found.values[static_cast<std::size_t>(y / 3 * 8 + x / 3)])
          << x << " " << y;
    }
  }
}

TEST(Placement, OfAHierarchyKeepsItsMerges) {
  Hierarchy found{drawn_labels({"AAAABBBBCCCC", "AAAABBBBCCCC", "AAAABBBBCCCC", "AAAABBBBCCCC"}),
                  {{2, 3, 0.25F}, {1, 4, 0.5F}},
                  0.3};
  const std::vector<std::uint8_t> flat(36 * 12, 7);
  const Hierarchy full = placed(found, FullPicture{36, 12, flat, kEverywhere});
  check(full);
  EXPECT_EQ(full.threshold, 0.3);
  expect_same(full.merges, {{2, 3, 0.25F}, {1, 4, 0.5F}});
}

TEST(Placement, ALineWithoutDataPartsARegion) {
  const Hierarchy found{drawn_labels({"AAAA", "AAAA", "BBBB", "BBBB"}), {{1, 2, 0.5F}}, 0.3};
  const std::vector<std::uint8_t> flat(16 * 16, 0);
  std::vector<std::uint8_t> valid(16 * 16, 1);
  for (std::size_t y = 0; y < 16; ++y) valid[y * 16 + 5] = 0;
  const Hierarchy full = placed(found, FullPicture{16, 16, flat, valid});
  check(full);
  testing::expect_labels_contract(full.leaves, full.leaves.width, full.leaves.height, valid);
  EXPECT_EQ(full.leaves.count, 4);
  EXPECT_EQ(full.merges.size(), 2u);
}

}  // namespace
}  // namespace diacut::testing
