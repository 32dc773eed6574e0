// Images from arrays: what each type of sample becomes, alpha, and what is refused. That files of
// the same samples give the same values is tested through the Python package, which reads both.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/samples.hpp"
#include "image_files.hpp"
#include "matchers.hpp"

/// How stored values become [0, 1], and which pixels have no data.
namespace diacut::testing {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

FileBytes tiff_of(const cv::Mat& samples) {
  return testing::write_tiff({testing::tiff_page(samples)});
}

Image decode(const FileBytes& file, ValueRange range = ValueRange::kAuto) {
  return decode_image(file, "a.tif", {.range = range});
}

std::string values_refusal(const FileBytes& file, const ImageParameters& parameters = {}) {
  return message_of<InputError>([&] { decode_image(file, "a.tif", parameters); });
}

template <typename T>
cv::Mat row(std::initializer_list<T> values) {
  return cv::Mat(std::vector<T>(values), true).reshape(0, 1);
}

TEST(ValueRange, IsThatOfTheTypeOrOfTheValues) {
  constexpr auto kAuto = ValueRange::kAuto;
  constexpr auto kType = ValueRange::kType;
  constexpr auto kData = ValueRange::kData;
  const double huge = std::numeric_limits<double>::max();
  const std::string flat = "The picture is flat";
  struct Case {
    cv::Mat samples;
    ValueRange range;
    std::vector<float> pixels;
    std::vector<std::string> notes = {};  ///< Parts of each.
  };
  const std::vector<Case> cases = {
      // Floats within [0, 1] stay, those beyond are stretched.
      {row<float>({0.25f, 0.5f, 0.75f}), kAuto, {0.25f, 0.5f, 0.75f}},
      {row<float>({0.25f, 0.5f, 0.75f}), kType, {0.25f, 0.5f, 0.75f}},
      {row<float>({0.25f, 0.5f, 0.75f}), kData, {0, 0.5f, 1}},
      {row<float>({0.1f, 0.7f}), kAuto, {0.1f, 0.7f}},
      {row<float>({-2, 0, 6}), kAuto, {0, 0.25f, 1}, {"-2 to 6, lie beyond 0 to 1"}},
      {row<cv::Vec3f>({{10, 20, 30}, {20, 30, 50}}),
       kAuto,
       {0, 0.25f, 0.5f, 0.25f, 0.5f, 1},
       {"10 to 50"}},
      // From air to bone: what lies beyond the limits is clipped.
      {row<std::int16_t>({-1024, -100, 100, 300, 3000}),
       {ValueRange::kLimits, -100, 300},
       {0, 0, 0.5f, 1, 1}},
      // Doubles that floats cannot hold.
      {row<double>({-huge, 0, huge}), kAuto, {0, 0.5f, 1}, {"became 0 to 1"}},
      {row<double>({2e300, 1e300, 3e300}), kAuto, {0.5f, 0, 1}, {"became 0 to 1"}},
      // Integers that fill half of their type stay, others are stretched.
      {row<std::uint16_t>({1000, 2000, 3000}),
       kType,
       {1000 / 65535.f, 2000 / 65535.f, 3000 / 65535.f}},
      {row<std::uint16_t>({1000, 2000, 3000}), kData, {0, 0.5f, 1}},
      {row<std::uint16_t>({0, 819, 4095}),
       kAuto,
       {0, 0.2f, 1},
       {"0 to 4095, take up less than half of 0 to 65535: 0 to 4095 became 0 to 1 (image.range)"}},
      {row<std::int16_t>({-1000, 0, 3000}), kAuto, {0, 0.25f, 1}, {"became 0 to 1"}},
      {row<std::uint16_t>({0, 32768}), kAuto, {0, 32768 / 65535.f}},
      {row<std::uint16_t>({100, 32767}), kAuto, {0, 1}, {"became 0 to 1"}},
      {row<std::uint8_t>({10, 20, 30}), kAuto, {0, 0.5f, 1}, {"10 to 30 became 0 to 1"}},
      {row<std::uint8_t>({10, 20, 30}), kType, {10 / 255.f, 20 / 255.f, 30 / 255.f}},
      {row<std::uint8_t>({10, 20, 138}), kAuto, {10 / 255.f, 20 / 255.f, 138 / 255.f}},
      // Pictures of one value.
      {row<std::uint16_t>({7, 7}), kAuto, {7 / 65535.f, 7 / 65535.f}, {flat}},
      {row<float>({7, 7}), kAuto, {0, 0}, {flat}},
      {row<std::uint8_t>({9, 9}), kAuto, {9 / 255.f, 9 / 255.f}, {flat}},
      {row<std::uint8_t>({9, 9}), kData, {0, 0}, {flat}},
      {row<std::uint8_t>({0, 0}), kAuto, {0, 0}, {flat}},
      {row<std::uint8_t>({255, 255}), kAuto, {1, 1}, {flat}},
  };
  for (std::size_t k = 0; k < cases.size(); ++k) {
    SCOPED_TRACE(k);
    const Image image = decode(tiff_of(cases[k].samples), cases[k].range);
    EXPECT_EQ(image.pixels, cases[k].pixels);
    ASSERT_EQ(image.notes.size(), cases[k].notes.size());
    for (std::size_t n = 0; n < image.notes.size(); ++n) {
      EXPECT_THAT(image.notes[n], HasSubstr(cases[k].notes[n]));
    }
  }
  EXPECT_THAT(decode(tiff_of(row<float>({0.01f, 0.02f, 0.05f}))).pixels,
              ElementsAre(0, ::testing::FloatNear(0.25f, 1e-6f), 1));
  EXPECT_THAT(decode(tiff_of(row<std::uint8_t>({0, 3}))).notes,
              ElementsAre(HasSubstr("became 0 to 1")));
}

TEST(ValueRange, FloatsBeyondTheUnitIntervalHaveNoTypesRange) {
  EXPECT_THAT(values_refusal(tiff_of(row<float>({-2, 0, 6})), {.range = ValueRange::kType}),
              AllOf(HasSubstr("a.tif: "), HasSubstr("-2 to 6"), HasSubstr("\"data\"")));
}

TEST(ValueRange, EightBitsAreStretchedTwentyTimesAtMost) {
  const auto ends = [](std::uint8_t low, std::uint8_t high) {
    const Image image = decode(tiff_of(row<std::uint8_t>({low, high})));
    return std::pair(image.pixels[0], image.pixels[1]);
  };
  EXPECT_FLOAT_EQ(ends(100, 102).second - ends(100, 102).first, 20 * 2 / 255.f);
  EXPECT_FLOAT_EQ(ends(100, 102).first, 1 - ends(100, 102).second);
  EXPECT_EQ(ends(0, 1).first, 0);
  EXPECT_EQ(ends(254, 255).second, 1);
}

TEST(ValueRange, AFewPixelsDoNotDecide) {
  // A hundred thousand values of a ramp, and ten that a broken sensor made.
  cv::Mat samples(100, 1000, CV_16U);
  for (int i = 0; i < 100'000; ++i) {
    samples.at<std::uint16_t>(i / 1000, i % 1000) = static_cast<std::uint16_t>(i / 25);
  }
  for (int i = 0; i < 10; ++i) samples.at<std::uint16_t>(i, 7 * i) = 65535;
  const Image image = decode(tiff_of(samples));
  // The thousandth at either end is clipped: values of up to 4 and from 3996 on.
  EXPECT_NEAR(image.pixels[50'000], (2000 - 4) / 3992.0, 0.001);
  EXPECT_EQ(image.pixels[0], 1.0f);  // A broken one.
  EXPECT_EQ(image.pixels[1], 0.0f);
  EXPECT_EQ(image.pixels[99'999], 1.0f);
}

TEST(ValueRange, AllButOneValueEqual) {
  cv::Mat samples(100, 100, CV_16U, cv::Scalar(500));
  samples.at<std::uint16_t>(50, 50) = 600;
  const Image image = decode(tiff_of(samples));
  EXPECT_EQ(image.pixels[0], 0.0f);
  EXPECT_EQ(image.pixels[50 * 100 + 50], 1.0f);
}

TEST(NoData, WhereValuesAreNotFinite) {
  const Image image = decode(tiff_of(row<float>({kNaN, 2, kInfinity, 4, -kInfinity, 3})));
  EXPECT_THAT(image.valid, ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(image.pixels, ElementsAre(0, 0, 0, 1, 0, 0.5f));
  ASSERT_EQ(image.notes.size(), 2u);
  EXPECT_THAT(image.notes[0], HasSubstr("3 of 6 pixels are not finite"));
  const Image doubles =
      decode(tiff_of(row<double>({std::numeric_limits<double>::quiet_NaN(), 0.5})));
  EXPECT_THAT(doubles.valid, ElementsAre(0, 1));
}

TEST(NoData, WhereOneChannelIsNotFinite) {
  const Image image = decode(tiff_of(row<cv::Vec3f>({{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, kNaN}})));
  EXPECT_THAT(image.valid, ElementsAre(1, 0));
  EXPECT_THAT(image.pixels, ElementsAre(0.5f, 0.5f, 0.5f, 0, 0, 0));
}

TEST(NoData, BelowHalfOfTheAlphaRange) {
  const Image image = decode(tiff_of(row<cv::Vec2b>({{200, 127}, {100, 128}})));
  EXPECT_EQ(image.channels, 1);
  EXPECT_THAT(image.valid, ElementsAre(0, 1));
  EXPECT_THAT(image.pixels, ElementsAre(0, 100 / 255.f));
  EXPECT_THAT(image.notes, ::testing::Contains(HasSubstr("1 of 2 pixels are transparent")));
  EXPECT_THAT(decode(tiff_of(row<cv::Vec2w>({{200, 32767}, {100, 32768}}))).valid,
              ElementsAre(0, 1));
  EXPECT_THAT(decode(tiff_of(row<cv::Vec2f>({{0.5f, 0.49f}, {0.5f, 0.5f}, {0.5f, kNaN}}))).valid,
              ElementsAre(0, 1, 0));
  // Floats may have a range of their own.
  EXPECT_THAT(decode(tiff_of(row<cv::Vec2f>({{0.5f, 255}, {0.5f, 100}, {0.5f, 200}}))).valid,
              ElementsAre(1, 0, 1));
}

TEST(NoData, TakesNoPartInTheRange) {
  const FileBytes file = tiff_of(row<cv::Vec2w>({{60000, 0}, {1000, 65535}, {3000, 65535}}));
  EXPECT_THAT(decode(file, ValueRange::kData).pixels, ElementsAre(0, 0, 1));
}

TEST(NoData, EverywhereIsAnError) {
  EXPECT_THAT(values_refusal(tiff_of(row<float>({kNaN, kInfinity}))),
              AllOf(HasSubstr("a.tif: nothing to segment"), HasSubstr("2 are not finite")));
  const cv::Mat hidden(3, 3, CV_8UC4, cv::Scalar(9, 9, 9, 0));
  EXPECT_THAT(values_refusal(testing::encode(".png", hidden)),
              AllOf(HasSubstr("nothing to segment"), HasSubstr("9 are transparent")));
}

template <typename T>
Image grey(SampleType type, const std::vector<T>& row, ValueRange range = ValueRange::kType) {
  return image_from_samples({row.data(), type, static_cast<std::int64_t>(row.size()), 1, 1},
                            {.range = range});
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
  const ImageParameters parameters{.range = range};
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

/// A picture as samples with padded rows, in the order blue, green, red.
template <class T>
void expect_padded_alike(SampleType type) {
  constexpr int kWide = 5, kHigh = 4, kStride = 17;
  std::vector<T> plain(kWide * kHigh * 3), padded(kStride * kHigh);
  for (int i = 0; i < kWide * kHigh * 3; ++i) {
    plain[i] = static_cast<T>(i / 60.0);
    if (std::is_integral_v<T>) plain[i] = static_cast<T>(4 * i);
    padded[i / 15 * kStride + i % 15 / 3 * 3 + 2 - i % 3] = plain[i];
  }
  Samples samples{padded.data(), type, kWide, kHigh, 3, kStride * sizeof(T), true};
  EXPECT_EQ(image_from_samples(samples).pixels,
            image_from_samples({plain.data(), type, kWide, kHigh, 3}).pixels);
  samples.stride = 15 * sizeof(T) - 1;
  EXPECT_THAT(message_of<InputError>([&] { image_from_samples(samples); }),
              HasSubstr("bytes apart"));
}

TEST(Samples, FramesOfACameraHavePaddedRowsAndBlueFirst) {
  expect_padded_alike<std::uint8_t>(SampleType::kUint8);
  expect_padded_alike<std::uint16_t>(SampleType::kUint16);
  expect_padded_alike<std::uint32_t>(SampleType::kUint32);
  expect_padded_alike<float>(SampleType::kFloat32);
  expect_padded_alike<double>(SampleType::kFloat64);
}

TEST(Samples, WhatIsNoImageIsRefused) {
  const std::uint8_t byte = 0;
  const auto of = [&](std::int64_t width, std::int64_t height, std::int64_t channels) {
    const Samples samples{&byte, SampleType::kUint8, width, height, channels};
    return message_of<InputError>([&] { image_from_samples(samples); });
  };
  EXPECT_EQ(of(1, 1, 1), "");
  EXPECT_THAT(of(0, 5, 1), HasSubstr("empty: it has 5 rows of 0 pixels"));
  EXPECT_THAT(of(1, 1, 5), HasSubstr("5 channels, expected 1 (grey)"));
  EXPECT_THAT(of(100'000, 100'000, 1), HasSubstr("100000 x 100000 pixels, more than the limit"));
  EXPECT_THAT(of(std::numeric_limits<std::int64_t>::max(), 2, 1), HasSubstr("raise image.max"));
  const float beyond = 2;
  const Samples samples{&beyond, SampleType::kFloat32, 1, 1, 1};
  EXPECT_THROW(image_from_samples(samples, {.range = ValueRange::kType}), InputError);
}

}  // namespace
}  // namespace diacut::testing
