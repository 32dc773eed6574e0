#include <gtest/gtest.h>
#include <png.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "matchers.hpp"
#include "output/picture.hpp"
#include "png_reader.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

using Pixel = std::array<int, 3>;

Pixel pixel(const ReadPng& png, int x, int y) {
  const std::size_t at = 3 * (static_cast<std::size_t>(y) * png.width + x);
  return {png.values[at], png.values[at + 1], png.values[at + 2]};
}

Image flat(int width, int height, std::vector<float> colour) {
  Image image{width, height, static_cast<int>(colour.size()), {}, {}, {}};
  for (std::size_t i = 0; i < image.pixel_count(); ++i) {
    image.pixels.insert(image.pixels.end(), colour.begin(), colour.end());
  }
  return image;
}

Labels one_region(int width, int height) {
  return {width, height, 1, std::vector<std::int32_t>(static_cast<std::size_t>(width) * height, 1)};
}

/// Labels of a left and a right half.
Labels two_regions(int width, int height) {
  Labels labels{width, height, 2, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) labels.values.push_back(x < width / 2 ? 1 : 2);
  }
  return labels;
}

ReadPng overlay(const Image& image, const Labels& labels) {
  return read_png(encode_overlay(image, labels, PictureFormat::kPng));
}

TEST(Overlay, OneRegionOfOneColourIsTheImage) {
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {40, 30}}) {
    const ReadPng png = overlay(flat(width, height, {0.2F, 0.4F, 1.0F}), one_region(width, height));
    EXPECT_EQ(png.width, width);
    EXPECT_EQ(png.height, height);
    EXPECT_EQ(png.colour_type, PNG_COLOR_TYPE_RGB);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) EXPECT_EQ(pixel(png, x, y), (Pixel{51, 102, 255}));
    }
  }
}

TEST(Overlay, GreyImagesAreDrawnOnInColour) {
  const ReadPng png = overlay(flat(40, 30, {0.6F}), two_regions(40, 30));
  EXPECT_EQ(pixel(png, 3, 3), (Pixel{153, 153, 153}));
  const Pixel line = pixel(png, 19, 10);
  EXPECT_GT(line[0], line[2] + 100);
}

TEST(Overlay, ALineRunsAlongTheBoundaryWithADarkHaloOnBothSides) {
  for (const float shade : {0.0F, 0.5F, 1.0F}) {
    const Image image = flat(40, 30, {shade, shade, shade});
    const ReadPng png = overlay(image, two_regions(40, 30));
    const int original = static_cast<int>(std::lround(shade * 255));
    for (int y = 0; y < 30; ++y) {
      for (int x = 0; x < 40; ++x) {
        const Pixel found = pixel(png, x, y);
        if (x == 19) {
          EXPECT_EQ(found, pixel(png, 19, 0));
          EXPECT_GT(found[0] + found[1], 450) << "bright";
          EXPECT_GT(found[0] - found[2], 100) << "coloured";
        } else if (x == 18 || x == 20) {
          EXPECT_LE(found[0], original / 2);
        } else {
          EXPECT_EQ(found, (Pixel{original, original, original})) << x;
        }
      }
    }
  }
}

TEST(Overlay, LinesGrowWithTheImage) {
  const ReadPng png = overlay(flat(1900, 1800, {0.5F}), two_regions(1900, 1800));
  int line = 0;
  for (int x = 900; x < 1000; ++x) line += pixel(png, x, 900) == pixel(png, 949, 900) ? 1 : 0;
  EXPECT_EQ(line, 4);
}

TEST(Overlay, RegionsLeanTowardsTheirMeanColour) {
  Image image = flat(40, 30, {0.0F, 0.0F, 0.0F});
  // The region is chequered, with a mean of 1/2.
  for (int y = 0; y < 30; ++y) {
    for (int x = 0; x < 40; ++x) {
      for (int c = 0; c < 3; ++c) {
        image.pixels[3 * (static_cast<std::size_t>(y) * 40 + x) + c] =
            (x + y) % 2 == 0 ? 0.0F : 1.0F;
      }
    }
  }
  const ReadPng png = overlay(image, one_region(40, 30));
  EXPECT_NEAR(pixel(png, 0, 0)[0], 0.25 * 127.5, 1);
  EXPECT_NEAR(pixel(png, 1, 0)[0], 255 - 0.25 * 127.5, 1);
}

TEST(Overlay, PixelsWithoutDataShowAFaintCheckerboard) {
  Image image = flat(200, 200, {0.0F, 0.0F, 0.0F});
  Labels labels = one_region(200, 200);
  image.valid.assign(image.pixel_count(), 1);
  for (int y = 0; y < 200; ++y) {
    for (int x = 0; x < 100; ++x) {
      image.valid[static_cast<std::size_t>(y) * 200 + x] = 0;
      labels.values[static_cast<std::size_t>(y) * 200 + x] = 0;
    }
  }
  const ReadPng png = overlay(image, labels);
  std::set<Pixel> shades;
  for (int y = 0; y < 200; ++y) {
    for (int x = 0; x < 95; ++x) shades.insert(pixel(png, x, y));
  }
  ASSERT_EQ(shades.size(), 2u);
  EXPECT_LT((*shades.rbegin())[0] - (*shades.begin())[0], 40);
  EXPECT_GT((*shades.begin())[0], 128);
  EXPECT_EQ(pixel(png, 150, 100), (Pixel{0, 0, 0}));
  EXPECT_GT(pixel(png, 99, 100)[0] - pixel(png, 99, 100)[2], 100) << "the boundary is drawn";
}

TEST(Overlay, NothingButPixelsWithoutData) {
  Image image = flat(3, 2, {0.0F});
  image.valid.assign(6, 0);
  EXPECT_EQ(overlay(image, {3, 2, 0, std::vector<std::int32_t>(6, 0)}).width, 3);
}

TEST(Overlay, TheExtensionChooses) {
  const TempFolder folder;
  const Image image = flat(40, 30, {0.8F, 0.1F, 0.1F});
  const Labels labels = one_region(40, 30);
  write_overlay(folder / "a.png", image, labels);
  EXPECT_EQ(read_png(read_bytes(folder / "a.png")).width, 40);
  for (const char* name : {"a.jpg", "a.JPEG"}) {
    write_overlay(folder / name, image, labels);
    EXPECT_EQ(read_bytes(folder / name).substr(0, 3), "\xff\xd8\xff");
    const cv::Mat read = cv::imread(folder / name);
    ASSERT_EQ(read.size(), cv::Size(40, 30));
    const cv::Vec3b blue_green_red = read.at<cv::Vec3b>(15, 20);
    EXPECT_NEAR(blue_green_red[2], 204, 4);
    EXPECT_NEAR(blue_green_red[0], 26, 4);
  }
  for (const char* name : {"a.tif", "a", "a.gif"}) {
    EXPECT_THROW(write_overlay(folder / name, image, labels), ConfigError);
  }
  EXPECT_EQ(folder.names().size(), 3u);
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
