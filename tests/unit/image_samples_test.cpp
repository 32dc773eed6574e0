// Images from arrays: what each type of sample becomes, alpha, and what is refused. That files of
// the same samples give the same values is tested through the Python package, which reads both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/samples.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename T>
Image grey(SampleType type, const std::vector<T>& row, ValueRange range = ValueRange::kType) {
  ImageParameters parameters;
  parameters.range = range;
  return image_from_samples({row.data(), type, static_cast<std::int64_t>(row.size()), 1, 1},
                            parameters);
}

TEST(Samples, LeastAndLargestOfATypeBecomeZeroAndOne) {
  EXPECT_THAT(grey<std::uint8_t>(SampleType::kBool, {0, 1}).pixels, ElementsAre(0.0F, 1.0F));
  EXPECT_THAT(grey<std::uint8_t>(SampleType::kUint8, {0, 51, 255}).pixels,
              ElementsAre(0.0F, 0.2F, 1.0F));
  EXPECT_THAT(grey<std::int8_t>(SampleType::kInt8, {-128, 127}).pixels, ElementsAre(0.0F, 1.0F));
  EXPECT_THAT(grey<std::uint16_t>(SampleType::kUint16, {0, 13107, 65535}).pixels,
              ElementsAre(0.0F, 0.2F, 1.0F));
  EXPECT_THAT(grey<std::int16_t>(SampleType::kInt16, {-32768, 32767}).pixels,
              ElementsAre(0.0F, 1.0F));
  EXPECT_THAT(grey<std::uint32_t>(SampleType::kUint32, {0, 858993459U, 4294967295U}).pixels,
              ElementsAre(0.0F, 0.2F, 1.0F));
  EXPECT_THAT(grey<std::int32_t>(SampleType::kInt32, {std::numeric_limits<std::int32_t>::min(),
                                                      std::numeric_limits<std::int32_t>::max()})
                  .pixels,
              ElementsAre(0.0F, 1.0F));
  EXPECT_THAT(grey<float>(SampleType::kFloat32, {0.0F, 0.25F, 1.0F}).pixels,
              ElementsAre(0.0F, 0.25F, 1.0F));
  EXPECT_THAT(grey<double>(SampleType::kFloat64, {0.0, 0.25, 1.0}).pixels,
              ElementsAre(0.0F, 0.25F, 1.0F));
}

/// Colours of type T, and the same with an alpha that hides nothing, which are converted sample by
/// sample. `high`: the largest value.
template <typename T>
void expect_alike(SampleType type, double high, ValueRange range, int width, int height) {
  ImageParameters parameters;
  parameters.range = range;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> value(0, high);
  std::vector<T> plain;
  std::vector<T> opaque;
  for (int i = 0; i < width * height; ++i) {
    for (int c = 0; c < 3; ++c) {
      plain.push_back(static_cast<T>(value(random)));
      opaque.push_back(plain.back());
    }
    opaque.push_back(std::is_integral_v<T> ? std::numeric_limits<T>::max() : T{1});
  }
  const Image one = image_from_samples({plain.data(), type, width, height, 3}, parameters);
  const Image other = image_from_samples({opaque.data(), type, width, height, 4}, parameters);
  EXPECT_EQ(one.pixels, other.pixels) << high;
  EXPECT_EQ(one.notes, other.notes) << high;
  EXPECT_THAT(one.valid, IsEmpty());
}

TEST(Samples, OpaqueAlphaChangesNothing) {
  // Values that fill their type's range, and some that are stretched.
  for (const ValueRange range : {ValueRange::kAuto, ValueRange::kRobust, ValueRange::kData}) {
    for (const double share : {1.0, 0.3}) {
      expect_alike<std::uint8_t>(SampleType::kUint8, share * 255, range, 40, 30);
      expect_alike<std::uint16_t>(SampleType::kUint16, share * 65535, range, 40, 30);
      expect_alike<std::int32_t>(SampleType::kInt32, share * 2e9, range, 40, 30);
      expect_alike<float>(SampleType::kFloat32, share, range, 40, 30);
      expect_alike<double>(SampleType::kFloat64, 50 * share, range, 40, 30);
    }
  }
  // More values than are sampled for the range.
  expect_alike<float>(SampleType::kFloat32, 0.3, ValueRange::kAuto, 701, 601);
}

TEST(Samples, OneValueThatIsNotFiniteHidesItsPixelAlone) {
  std::vector<float> row = {0, 0.25F, std::numeric_limits<float>::quiet_NaN(), 1};
  const Image image = grey(SampleType::kFloat32, row);
  EXPECT_THAT(image.valid, ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(image.pixels, ElementsAre(0.0F, 0.25F, 0.0F, 1.0F));
  row[2] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(grey(SampleType::kFloat32, row).valid, ElementsAre(1, 1, 0, 1));
}

TEST(Samples, TheRangeIsThatOfTheParameters) {
  const std::vector<std::uint8_t> row = {10, 20, 30};
  EXPECT_THAT(grey(SampleType::kUint8, row, ValueRange::kData).pixels,
              ElementsAre(0.0F, 0.5F, 1.0F));
}

TEST(Samples, TwoAndFourChannelsEndWithAlpha) {
  const std::vector<std::uint8_t> grey_alpha = {100, 255, 200, 0};
  const Image one = image_from_samples({grey_alpha.data(), SampleType::kUint8, 2, 1, 2});
  EXPECT_EQ(one.channels, 1);
  EXPECT_THAT(one.valid, ElementsAre(1, 0));
  EXPECT_THAT(one.pixels, ElementsAre(100.0F / 255, 0.0F));
  const std::vector<float> colours = {0.0F, 0.5F, 1.0F, 0.4F, 1.0F, 0.5F, 0.0F, 0.6F};
  const Image two = image_from_samples({colours.data(), SampleType::kFloat32, 1, 2, 4});
  EXPECT_EQ(two.channels, 3);
  EXPECT_EQ(two.height, 2);
  EXPECT_THAT(two.valid, ElementsAre(0, 1));
}

TEST(Samples, PixelsThatAreNotFiniteHaveNoData) {
  const Image image =
      grey<float>(SampleType::kFloat32, {0.0F, std::numeric_limits<float>::quiet_NaN(), 1.0F});
  EXPECT_THAT(image.valid, ElementsAre(1, 0, 1));
  EXPECT_THAT(image.notes, ElementsAre(HasSubstr("1 of 3 pixels are not finite")));
}

std::string refusal(const Samples& samples) {
  try {
    image_from_samples(samples);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Samples, WhatIsNoImageIsRefused) {
  const std::uint8_t byte = 0;
  const auto of = [&](std::int64_t width, std::int64_t height, std::int64_t channels) {
    return refusal({&byte, SampleType::kUint8, width, height, channels});
  };
  EXPECT_THAT(of(1, 1, 1), IsEmpty());
  EXPECT_THAT(of(0, 5, 1), HasSubstr("empty: it has 5 rows of 0 pixels"));
  EXPECT_THAT(of(1, 1, 5), HasSubstr("5 channels, expected 1 (grey)"));
  EXPECT_THAT(of(100'000, 100'000, 1), HasSubstr("100000 x 100000 pixels, more than the limit"));
  EXPECT_THAT(of(std::numeric_limits<std::int64_t>::max(), 2, 1), HasSubstr("raise image.max"));
  const float beyond = 2;
  ImageParameters type;
  type.range = ValueRange::kType;
  EXPECT_THROW(image_from_samples({&beyond, SampleType::kFloat32, 1, 1, 1}, type), InputError);
}

}  // namespace
}  // namespace diacut
