#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <set>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/label_stack.hpp"
#include "diacut/output.hpp"
#include "image/colour.hpp"
#include "output/npy.hpp"
#include "output/palette.hpp"
#include "png_reader.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using ::diacut::testing::read_bytes;
using ::diacut::testing::read_png;
using ::diacut::testing::ReadPng;
using ::diacut::testing::TempFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Labels 0 (no data), 1, 2, ..., count, row by row; the rest of the pixels has the last label.
Labels stripes(int width, int height, std::int64_t count) {
  Labels labels{width, height, count, {}};
  for (std::int64_t i = 0; i < std::int64_t{width} * height; ++i) {
    labels.values.push_back(static_cast<std::int32_t>(std::min(i, count)));
  }
  return labels;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LabelsPng, IsSixteenBitsWhateverTheCount) {
  for (const auto& [width, height, count] : std::vector<std::tuple<int, int, std::int64_t>>{
           {1, 1, 0}, {2, 1, 1}, {1, 7, 3}, {481, 1, 300}, {13, 11, 142}, {300, 219, 65'535}}) {
    const Labels labels = stripes(width, height, count);
    const ReadPng png = read_png(encode_labels(labels, LabelFormat::kGreyPng));
    EXPECT_EQ(png.width, width);
    EXPECT_EQ(png.height, height);
    EXPECT_EQ(png.bits, 16);
    EXPECT_EQ(png.colour_type, PNG_COLOR_TYPE_GRAY);
    EXPECT_THAT(png.values, ElementsAreArray(labels.values));
  }
}

TEST(LabelsPng, OpenCvReadsTheSame) {
  const Labels labels = stripes(300, 219, 65'535);
  const cv::Mat read =
      cv::imdecode(encode_labels(labels, LabelFormat::kGreyPng), cv::IMREAD_UNCHANGED);
  ASSERT_EQ(read.type(), CV_16UC1);
  EXPECT_TRUE(std::equal(read.begin<std::uint16_t>(), read.end<std::uint16_t>(),
                         labels.values.begin(), labels.values.end()));
}

TEST(LabelsPng, OneRegionTooManyIsAnErrorThatNamesTheFormatsThatHoldIt) {
  const TempFolder folder;
  const Labels labels = stripes(300, 219, 65'536);
  EXPECT_THAT(message_of([&] { write_labels(folder / "a.png", labels); }),
              AllOf(HasSubstr(folder / "a.png"), HasSubstr("65536 regions"), HasSubstr("65535"),
                    HasSubstr(".npy"), HasSubstr(".tif")));
  EXPECT_THROW(write_labels("-", labels), InputError);
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_NO_THROW(write_labels(folder / "a.npy", labels));
  EXPECT_NO_THROW(write_labels(folder / "a.tif", labels));
}

TEST(LabelsIndexed, HoldsTheLabelsAsIndices) {
  for (const std::int64_t count : {0, 1, 2, 254, 255}) {
    const Labels labels = stripes(17, 19, count);
    const ReadPng png = read_png(encode_labels(labels, LabelFormat::kIndexedPng));
    EXPECT_EQ(png.bits, 8);
    EXPECT_EQ(png.colour_type, PNG_COLOR_TYPE_PALETTE);
    EXPECT_THAT(png.values, ElementsAreArray(labels.values));
    EXPECT_EQ(png.palette, distinct_colours(static_cast<int>(count) + 1));
    EXPECT_THAT(png.palette_alpha, ElementsAre(0));
  }
}

TEST(LabelsIndexed, MoreThan255RegionsIsAnErrorThatNamesWhatToUse) {
  const TempFolder folder;
  EXPECT_THAT(message_of([&] { write_labels(folder / "a.png", stripes(17, 19, 256), true); }),
              AllOf(HasSubstr(folder / "a.png"), HasSubstr("256 regions"), HasSubstr("255"),
                    HasSubstr("16-bit"), HasSubstr(".npy")));
  EXPECT_THROW(write_labels("-", stripes(17, 19, 256), true), InputError);
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(LabelsTiff, Holds32BitIntegers) {
  Labels labels = stripes(5, 3, 14);
  labels.values.back() = 2'000'000'000;
  labels.count = 2'000'000'000;
  const cv::Mat read =
      cv::imdecode(encode_labels(labels, LabelFormat::kTiff), cv::IMREAD_UNCHANGED);
  ASSERT_EQ(read.type(), CV_32SC1);
  ASSERT_EQ(read.size(), cv::Size(5, 3));
  EXPECT_TRUE(std::equal(read.begin<std::int32_t>(), read.end<std::int32_t>(),
                         labels.values.begin(), labels.values.end()));
}

TEST(LabelsTiff, IsPackedInSeveralStrips) {
  // More than one strip, of which the last is shorter.
  const Labels labels = stripes(700, 331, 40'000);
  const std::vector<std::uint8_t> bytes = encode_labels(labels, LabelFormat::kTiff);
  // Without a predictor, which ImageJ does not undo in packed strips.
  EXPECT_LT(bytes.size() * 15, labels.values.size() * sizeof(std::int32_t));
  const cv::Mat read = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  ASSERT_EQ(read.type(), CV_32SC1);
  ASSERT_EQ(read.size(), cv::Size(700, 331));
  EXPECT_TRUE(std::equal(read.begin<std::int32_t>(), read.end<std::int32_t>(),
                         labels.values.begin(), labels.values.end()));
}

TEST(LabelsTiff, PagesMayDifferInSize) {
  for (const bool is_big : {false, true}) {
    LabelStack file(is_big);
    const std::vector<Labels> pages = {stripes(5, 3, 14), stripes(1, 9, 2), stripes(800, 100, 3)};
    for (const Labels& page : pages) file.add(page);
    const std::vector<std::uint8_t> bytes = file.finish();
    for (std::size_t k = 0; k < pages.size(); ++k) {
      ImageParameters parameters;
      parameters.range = ValueRange::kData;
      const Image image = decode_image(bytes, "labels", parameters, {static_cast<int>(k) + 1, ""});
      ASSERT_EQ(image.width, pages[k].width);
      ASSERT_EQ(image.height, pages[k].height);
      for (std::size_t i = 0; i < pages[k].values.size(); ++i) {
        const double share = pages[k].values[i] / static_cast<double>(pages[k].count);
        ASSERT_NEAR(image.pixels[i], share, 1e-6) << "page " << k;
      }
    }
    EXPECT_THROW(decode_image(bytes, "labels", {}, {4, ""}), InputError);
  }
}

TEST(LabelsNpy, IsHeightByWidth) {
  const Labels labels = stripes(5, 3, 14);
  EXPECT_EQ(encode_labels(labels, LabelFormat::kNpy),
            encode_npy<std::int32_t>(labels.values, {3, 5}));
}

TEST(WriteLabels, TheExtensionChoosesInAnyCase) {
  const TempFolder folder;
  const Labels labels = stripes(5, 3, 14);
  const auto expect = [&](const std::string& name, LabelFormat format, bool indexed = false) {
    write_labels(folder / name, labels, indexed);
    const std::vector<std::uint8_t> bytes = encode_labels(labels, format);
    EXPECT_EQ(read_bytes(folder / name), std::string(bytes.begin(), bytes.end())) << name;
  };
  expect("a.png", LabelFormat::kGreyPng);
  expect("a.PNG", LabelFormat::kGreyPng);
  expect("b.png", LabelFormat::kIndexedPng, true);
  expect("a.tif", LabelFormat::kTiff);
  expect("a.Tiff", LabelFormat::kTiff);
  expect("a.npy", LabelFormat::kNpy);
  expect("a.b.npy", LabelFormat::kNpy);
  EXPECT_EQ(label_format("-"), LabelFormat::kGreyPng);
  EXPECT_EQ(label_format("-", true), LabelFormat::kIndexedPng);
}

TEST(WriteLabels, UnknownExtensionsAreErrorsThatListTheKnown) {
  const TempFolder folder;
  for (const std::string name : {"a.jpg", "a", "png", "a.png.gz", ".png", "a.b/c"}) {
    EXPECT_THROW(label_format(name), ConfigError) << name;
    EXPECT_THAT(message_of([&] { label_format(name); }),
                AllOf(HasSubstr(name), HasSubstr(".png, .tif, .tiff, .npy")));
  }
  EXPECT_THROW(write_labels(folder / "a.jpg", stripes(1, 1, 0)), ConfigError);
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(WriteLabels, IndicesNeedPng) {
  for (const char* name : {"a.tif", "a.npy"}) {
    EXPECT_THROW(label_format(name, true), ConfigError);
    EXPECT_THAT(message_of([&] { label_format(name, true); }), HasSubstr(".png only"));
  }
}

TEST(WriteLabels, SameLabelsSameBytes) {
  const Labels labels = stripes(61, 47, 255);
  for (const LabelFormat format :
       {LabelFormat::kGreyPng, LabelFormat::kIndexedPng, LabelFormat::kTiff, LabelFormat::kNpy}) {
    EXPECT_EQ(encode_labels(labels, format), encode_labels(labels, format));
  }
}

class Palette : public ::testing::Test {
 protected:
  static constexpr int kCount = 256;
  const std::vector<Colour> colours_ = distinct_colours(kCount);

  double distance(int a, int b) const {
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      const double difference = lab_[c * kCount + a] - lab_[c * kCount + b];
      sum += difference * difference;
    }
    return std::sqrt(sum);
  }

 private:
  std::vector<float> planes() const {
    Image image{kCount, 1, 3, {}, {}, {}};
    for (const Colour& colour : colours_) {
      for (const std::uint8_t value : colour) image.pixels.push_back(value / 255.0F);
    }
    return lab_planes(image);
  }
  const std::vector<float> lab_ = planes();
};

TEST_F(Palette, StartsWithBlackAndHasNoColourTwice) {
  EXPECT_EQ(colours_.front(), (Colour{0, 0, 0}));
  EXPECT_EQ(std::set<Colour>(colours_.begin(), colours_.end()).size(), colours_.size());
}

TEST_F(Palette, ColoursAreFarApartAndMoreSoWhenFewOrConsecutive) {
  // A just noticeable difference is about 2.3.
  for (int a = 0; a < kCount; ++a) {
    for (int b = 0; b < a; ++b) {
      const double least = a - b <= 4 ? 38 : a <= 20 ? 35 : a <= 64 ? 18 : 10;
      EXPECT_GE(distance(a, b), least) << a << " and " << b;
    }
  }
}

TEST_F(Palette, FewerColoursAreTheFirstOfMore) {
  for (const std::size_t count : {1, 2, 100}) {
    EXPECT_EQ(distinct_colours(static_cast<int>(count)),
              std::vector<Colour>(colours_.begin(), colours_.begin() + count));
  }
}

}  // namespace
}  // namespace diacut
