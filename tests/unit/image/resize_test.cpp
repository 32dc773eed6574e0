#include "image/resize.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "matchers.hpp"

namespace diacut::testing {
namespace {

using ::testing::FloatNear;

Image grey(int width, int height, std::vector<float> pixels, std::vector<std::uint8_t> valid = {}) {
  return {width, height, 1, std::move(pixels), std::move(valid), {"a note"}};
}

TEST(ReducedSize, KeepsTheProportionsAndNeverEnlarges) {
  EXPECT_EQ(reduced_size({2560, 1600}, 640), (PictureSize{640, 400}));
  EXPECT_EQ(reduced_size({1600, 2560}, 640), (PictureSize{400, 640}));
  EXPECT_EQ(reduced_size({640, 400}, 640), (PictureSize{640, 400}));
  EXPECT_EQ(reduced_size({481, 321}, 640), (PictureSize{481, 321}));
  EXPECT_EQ(reduced_size({5000, 4000}, 0), (PictureSize{5000, 4000}));
  EXPECT_EQ(reduced_size({1, 1}, 1), (PictureSize{1, 1}));
}

TEST(ReducedSize, OfStripsIsThatOfTheArea) {
  // 20000 x 50 pixels are as many as 1414 x 707 have.
  EXPECT_NEAR(longer_side({20'000, 50}), 1414.2, 0.1);
  EXPECT_EQ(reduced_size({20'000, 50}, 640), (PictureSize{9051, 23}));
  EXPECT_EQ(reduced_size({1, 10'000}, 640), (PictureSize{1, 10'000}));
  EXPECT_EQ(reduced_size({1, 1'000'000}, 640), (PictureSize{1, 452'548}));
  // No jump at 2:1.
  EXPECT_DOUBLE_EQ(longer_side({2000, 1000}), 2000);
  EXPECT_NEAR(longer_side({2001, 1000}), 2000, 1);
}

TEST(Reduced, IsTheMeanOfWhatAPixelCovers) {
  const Image image = grey(4, 2,
                           {0, 1, 0.5F, 0.5F,  //
                            1, 0, 0.25F, 0.75F});
  const Image half = reduced(image, {2, 1});
  EXPECT_EQ(half.width, 2);
  EXPECT_EQ(half.height, 1);
  EXPECT_THAT(half.pixels, ElementsAre(FloatNear(0.5F, 1e-6F), FloatNear(0.5F, 1e-6F)));
  EXPECT_THAT(half.notes, ElementsAre("a note"));
  // Two thirds of a pixel count two thirds.
  const Image third = reduced(grey(3, 1, {0, 0.6F, 0.9F}), {2, 1});
  EXPECT_THAT(third.pixels, ElementsAre(FloatNear(0.2F, 1e-6F), FloatNear(0.8F, 1e-6F)));
}

TEST(Reduced, OfWhiteIsWhiteAtAnySize) {
  const Image white = grey(97, 61, std::vector<float>(97 * 61, 1.0F));
  for (const PictureSize size : {PictureSize{13, 7}, {96, 60}, {1, 1}, {97, 1}, {40, 61}}) {
    EXPECT_THAT(reduced(white, size).pixels, Each(FloatNear(1.0F, 1e-6F)));
    for (const float value : reduced(white, size).pixels) EXPECT_LE(value, 1.0F);
  }
}

TEST(Reduced, PixelsWithoutDataTakeNoPart) {
  const Image image = grey(4, 2,
                           {0, 0.5F, 0, 0,  //
                            0, 1, 0, 0},
                           {0, 1, 0, 0,  //
                            0, 1, 0, 0});
  const Image half = reduced(image, {2, 1});
  EXPECT_THAT(half.valid, ElementsAre(1, 0));
  EXPECT_THAT(half.pixels, ElementsAre(FloatNear(0.75F, 1e-6F), 0.0F));
  // Any data makes a pixel one with data.
  EXPECT_THAT(reduced(image, {1, 1}).valid, IsEmpty());
}

TEST(Reduced, KeepsChannelsApart) {
  const Image image{2, 1, 3, {0, 0.5F, 1, 1, 0.5F, 0}, {}, {}};
  EXPECT_THAT(reduced(image, {1, 1}).pixels,
              Pointwise(FloatNear(1e-6F), std::vector<float>{0.5F, 0.5F, 0.5F}));
}

TEST(Enlarged, InterpolatesBetweenCentres) {
  const std::vector<float> map = enlarged({0, 1}, {2, 1}, {4, 1});
  EXPECT_THAT(map, Pointwise(FloatNear(1e-6F), std::vector<float>{0, 0.25F, 0.75F, 1}));
  EXPECT_THAT(enlarged({0, 1}, {2, 1}, {4, 1}, {1, 1, 0, 1}),
              Pointwise(FloatNear(1e-6F), std::vector<float>{0, 0.25F, 0, 1}));
}

TEST(ReducedByMaximum, KeepsALineOfOnePixel) {
  std::vector<float> map(7 * 5, 0.1F);
  for (int y = 0; y < 5; ++y) map[static_cast<std::size_t>(y * 7 + 3)] = 0.9F;
  EXPECT_THAT(reduced_by_maximum(map, {7, 5}, {2, 2}), ElementsAre(0.1F, 0.9F, 0.1F, 0.9F));
  EXPECT_THAT(reduced_by_maximum(map, {7, 5}, {1, 1}), ElementsAre(0.9F));
}

}  // namespace
}  // namespace diacut::testing
