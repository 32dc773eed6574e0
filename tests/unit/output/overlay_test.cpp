#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <vector>

#include "by_pixel.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "matchers.hpp"
#include "output/picture.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

Image flat(int width, int height, std::vector<float> colour) {
  Image image{width, height, static_cast<int>(colour.size()), {}, {}, {}};
  for (std::size_t i = 0; i < image.pixel_count(); ++i) {
    image.pixels.insert(image.pixels.end(), colour.begin(), colour.end());
  }
  return image;
}

Labels one_region(int width, int height) {
  return {width, height, 1, by_pixel(width, height, [](int, int) { return 1; })};
}

/// Labels of a left and a right half.
Labels two_regions(int width, int height) {
  return {width, height, 2,
          by_pixel(width, height, [&](int x, int) { return x < width / 2 ? 1 : 2; })};
}

/// Blue, green, red, as OpenCV reads them.
cv::Mat3b overlay(const Image& image, const Labels& labels) {
  const cv::Mat read =
      cv::imdecode(encode_overlay(image, labels, PictureFormat::kPng), cv::IMREAD_UNCHANGED);
  EXPECT_EQ(read.type(), CV_8UC3);
  return read;
}

void expect_equal(const cv::Mat3b& found, const cv::Mat3b& expected) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(cv::norm(found, expected, cv::NORM_INF), 0);
}

TEST(Overlay, OneRegionOfOneColourIsTheImage) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {40, 30}}) {
    expect_equal(overlay(flat(width, height, {0.2F, 0.4F, 1.0F}), one_region(width, height)),
                 cv::Mat3b(height, width, cv::Vec3b(255, 102, 51)));
  }
}

TEST(Overlay, GreyImagesAreDrawnOnInColour) {
  const cv::Mat3b found = overlay(flat(40, 30, {0.6F}), two_regions(40, 30));
  EXPECT_EQ(found(3, 3), cv::Vec3b::all(153));
  EXPECT_GT(found(10, 19)[2], found(10, 19)[0] + 100);
}

TEST(Overlay, ALineRunsAlongTheBoundaryWithADarkHaloOnBothSides) {
  for (const int shade : {0, 128, 255}) {
    const float value = static_cast<float>(shade) / 255;
    const cv::Mat3b found = overlay(flat(40, 30, {value, value, value}), two_regions(40, 30));
    cv::Mat3b expected(30, 40, cv::Vec3b::all(static_cast<std::uint8_t>(shade)));
    const cv::Vec3b line = found(0, 19);
    EXPECT_GT(line[2] + line[1], 450) << "bright";
    EXPECT_GT(line[2] - line[0], 100) << "coloured";
    expected.col(19).setTo(line);
    for (const int x : {18, 20}) {
      found.col(x).copyTo(expected.col(x));
      for (const cv::Vec3b& halo : cv::Mat3b(found.col(x))) EXPECT_LE(halo[2], shade / 2);
    }
    expect_equal(found, expected);
  }
}

TEST(Overlay, LinesGrowWithTheImage) {
  const cv::Mat3b found = overlay(flat(1900, 1800, {0.5F}), two_regions(1900, 1800));
  int line = 0;
  for (int x = 900; x < 1000; ++x) line += found(900, x) == found(900, 949) ? 1 : 0;
  EXPECT_EQ(line, 4);
}

TEST(Overlay, RegionsLeanTowardsTheirMeanColour) {
  // The region is chequered, with a mean of 1/2.
  const auto chequered = [](int x, int y) { return (x + y) % 2 == 0 ? 0.0F : 1.0F; };
  const cv::Mat3b found =
      overlay({40, 30, 1, by_pixel(40, 30, chequered), {}, {}}, one_region(40, 30));
  EXPECT_NEAR(found(0, 0)[0], 0.25 * 127.5, 1);
  EXPECT_NEAR(found(0, 1)[0], 255 - 0.25 * 127.5, 1);
}

TEST(Flat, EachRegionAndTheBackgroundHaveTheirMeanColour) {
  Image image{6, 1, 1, {0.0F, 0.2F, 0.4F, 1.0F, 1.0F, 0.6F}, {}, {}};
  const Labels labels{6, 1, 2, {1, 1, 0, 2, 2, 0}};
  const TempFolder folder;
  write_flat(folder / "a.png", image, labels);
  const cv::Mat3b flat = cv::imread(folder / "a.png");
  const std::vector<int> expected = {25, 25, 127, 255, 255, 127};
  ASSERT_EQ(flat.size(), cv::Size(6, 1));
  for (int x = 0; x < 6; ++x) {
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(flat(0, x)[c], expected[x], 1) << x;
  }
  image.valid = {1, 0, 1, 1, 1, 1};
  write_flat(folder / "a.jpg", image, labels);
  EXPECT_EQ(cv::imread(folder / "a.jpg").size(), cv::Size(6, 1));
  EXPECT_THROW(write_flat(folder / "a.png", image, Labels{1, 1, 1, {1}}), InputError);
  EXPECT_THROW(write_flat(folder / "a.tif", image, labels), ConfigError);
}

TEST(Cutout, IsSoftAtTheEdgeAndHasTheRegionsColours) {
  Image image{6, 3, 1, by_pixel(6, 3, [](int x, int) { return x < 3 ? 0.2F : 1.0F; }), {}, {}};
  const Labels labels = two_regions(6, 3);
  const std::vector<std::uint8_t> found = cutout_picture(image, labels, {1});
  const std::vector<int> alpha = {255, 255, 191, 64, 0, 0};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const int expected = alpha[i / 4 % 6];
    EXPECT_NEAR(found[i], i % 4 == 3 ? expected : expected > 0 ? 51 : 0, 1) << i;
  }
  image.valid = by_pixel(6, 3, [](int x, int) { return std::uint8_t(x != 1); });
  EXPECT_EQ(cutout_picture(image, labels, {1})[7], 128) << "no data between two halves";
  image.valid = by_pixel(6, 3, [](int x, int y) { return std::uint8_t(x == 1 && y == 1); });
  EXPECT_EQ(cutout_picture(image, labels, {1})[4 * 7 + 3], 128) << "one pixel stays visible";
  for (const std::int32_t wrong : {0, 3}) {
    EXPECT_THROW(cutout_picture(image, labels, {wrong}), InputError);
  }
  const TempFolder folder;
  write_cutout(folder / "a.png", image, labels, {1, 2});
  EXPECT_EQ(cv::imread(folder / "a.png", cv::IMREAD_UNCHANGED).type(), CV_8UC4);
  EXPECT_THROW(write_cutout(folder / "a.jpg", image, labels, {1}), ConfigError);
}

TEST(Cutout, TheForegroundDoesNotSurroundTheOthers) {
  const auto framed = [](int x, int y) {
    return x == 5 && y == 4 ? 4 : x > 2 && x < 7 && y > 1 ? 2 : y == 0 ? 1 : 3;
  };
  EXPECT_THAT(foreground({10, 8, 4, by_pixel(10, 8, framed)}), ElementsAre(2, 4)) << "with 4";
  EXPECT_THAT(foreground(two_regions(8, 8)), ElementsAre(1)) << "all meet three sides";
  EXPECT_THAT(foreground({2, 1, 0, {0, 0}}), IsEmpty());
}

TEST(Overlay, PixelsWithoutDataShowAFaintCheckerboard) {
  Image image = flat(200, 200, {0.0F, 0.0F, 0.0F});
  const std::vector<int> right = by_pixel(200, 200, [](int x, int) { return x < 100 ? 0 : 1; });
  image.valid.assign(right.begin(), right.end());
  const cv::Mat3b found = overlay(image, {200, 200, 1, right});
  std::set<int> shades;
  for (const cv::Vec3b& each : cv::Mat3b(found.colRange(0, 95))) {
    shades.insert(each[0]);
    EXPECT_EQ(each, cv::Vec3b::all(each[0]));
  }
  ASSERT_EQ(shades.size(), 2u);
  EXPECT_LT(*shades.rbegin() - *shades.begin(), 40);
  EXPECT_GT(*shades.begin(), 128);
  EXPECT_EQ(found(100, 150), cv::Vec3b::all(0));
  EXPECT_GT(found(100, 99)[2] - found(100, 99)[0], 100) << "the boundary is drawn";
}

TEST(Overlay, NothingButPixelsWithoutData) {
  Image image = flat(3, 2, {0.0F});
  image.valid.assign(6, 0);
  EXPECT_EQ(overlay(image, {3, 2, 0, std::vector<std::int32_t>(6, 0)}).cols, 3);
}

TEST(Overlay, TheExtensionChooses) {
  const TempFolder folder;
  const Image image = flat(40, 30, {0.8F, 0.1F, 0.1F});
  const Labels labels = one_region(40, 30);
  for (const auto& [name, start] :
       {std::pair("a.png", "\x89PNG"), {"a.jpg", "\xff\xd8\xff"}, {"a.JPEG", "\xff\xd8\xff"}}) {
    write_overlay(folder / name, image, labels);
    EXPECT_THAT(read_bytes(folder / name), StartsWith(start));
    const cv::Mat3b read = cv::imread(folder / name);
    ASSERT_EQ(read.size(), cv::Size(40, 30));
    EXPECT_NEAR(read(15, 20)[2], 204, 4);
    EXPECT_NEAR(read(15, 20)[0], 26, 4);
  }
}

TEST(Overlay, WhatCannotBeDrawnIsAnError) {
  const TempFolder folder;
  EXPECT_THROW(overlay(flat(4, 3, {0.5F}), one_region(3, 4)), InputError);
  const Image wide = flat(65'501, 1, {0.5F});
  EXPECT_THAT(
      message_of<InputError>([&] { write_overlay(folder / "a.jpg", wide, one_region(65'501, 1)); }),
      AllOf(HasSubstr(folder / "a.jpg"), HasSubstr(".png")));
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_NO_THROW(write_overlay(folder / "a.png", wide, one_region(65'501, 1)));
}

}  // namespace
}  // namespace diacut::testing
