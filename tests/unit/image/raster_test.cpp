#include "image/raster.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/seeds.hpp"
#include "image_files.hpp"
#include "matchers.hpp"
#include "npz_writer.hpp"
#include "output/format.hpp"
#include "output/npy.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

/// A .npy file whose header says this, followed by these bytes.
FileBytes npy(const std::string& header, const FileBytes& elements, int major = 1) {
  const std::string file = npy_file(header, {elements.begin(), elements.end()}, major);
  return {file.begin(), file.end()};
}

std::string image_raster_failure(const FileBytes& bytes) {
  return message_of<InputError>([&] { decode_raster(bytes); });
}

TEST(Raster, ReadsArraysOfEveryNumericType) {
  const auto check = [](auto element, bool is_integer) {
    using T = decltype(element);
    const std::vector<T> elements = {T{0}, T{1}, T{2}, T{100}, T{5}, element};
    const Raster raster = decode_raster(encode_npy<T>(elements, {2, 3}));
    EXPECT_EQ(raster.width, 3);
    EXPECT_EQ(raster.height, 2);
    EXPECT_EQ(raster.is_integer, is_integer);
    EXPECT_EQ(raster.full, 1);
    EXPECT_EQ(raster.values, std::vector<double>(elements.begin(), elements.end()));
  };
  check(std::uint8_t{255}, true);
  check(std::int8_t{-128}, true);
  check(std::uint16_t{65535}, true);
  check(std::int16_t{-32768}, true);
  check(std::uint32_t{4294967295}, true);
  check(std::int32_t{-7}, true);
  check(std::int64_t{1} << 40, true);
  check(std::uint64_t{1} << 41, true);
  check(0.1F, false);
  check(0.1, false);
}

TEST(Raster, ReadsOtherByteOrdersAndOrdersOfDimensions) {
  const FileBytes big = {0, 1, 2, 3, 0, 4};
  EXPECT_EQ(
      decode_raster(npy("{'descr': '>u2', 'fortran_order': False, 'shape': (1, 3), }", big)).values,
      (std::vector<double>{1, 515, 4}));
  const FileBytes bytes = {1, 2, 3, 4, 5, 6};
  const Raster columns =
      decode_raster(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", bytes));
  EXPECT_EQ(columns.width, 3);
  EXPECT_EQ(columns.values, (std::vector<double>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(decode_raster(npy("{'shape': (2,3), 'fortran_order': False, 'descr': '|b1'}", bytes, 2))
                .values,
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Raster, WholeNumbersThatADoubleCannotTellApartAreRefused) {
  const std::int64_t most = (std::int64_t{1} << 53) - 1;
  EXPECT_EQ(
      decode_raster(encode_npy<std::int64_t>(std::vector<std::int64_t>{most}, {1, 1})).values[0],
      static_cast<double>(most));
  for (const std::int64_t label : {most + 1, most + 2, std::int64_t{720575940621039145}}) {
    EXPECT_THAT(
        image_raster_failure(encode_npy<std::int64_t>(std::vector<std::int64_t>{label}, {1, 1})),
        HasSubstr("up to 2^53 - 1: number them anew"));
  }
}

TEST(Raster, KeepsWhatIsNotFinite) {
  const std::vector<float> elements = {std::numeric_limits<float>::quiet_NaN(),
                                       std::numeric_limits<float>::infinity()};
  const Raster raster = decode_raster(encode_npy<float>(elements, {1, 2}));
  EXPECT_TRUE(std::isnan(raster.values[0]));
  EXPECT_TRUE(std::isinf(raster.values[1]));
}

TEST(Raster, RefusesArraysThatAreNoPicture) {
  EXPECT_THAT(image_raster_failure(encode_npy<float>(std::vector<float>{1, 2}, {2})),
              HasSubstr("1 dim"));
  EXPECT_THAT(image_raster_failure(encode_npy<float>(std::vector<float>{1, 2}, {1, 1, 2})),
              HasSubstr("3 dim"));
  EXPECT_THAT(image_raster_failure(encode_npy<float>({}, {0, 4})), HasSubstr("0"));
  const std::string complex = "{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }";
  EXPECT_THAT(image_raster_failure(npy(complex, FileBytes(8))), HasSubstr("c8"));
  const std::string huge =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000)}";
  EXPECT_THAT(image_raster_failure(npy(huge, FileBytes(8))), HasSubstr("cut off"));
}

TEST(Raster, LabelsComeBackFromEveryFormatTheyAreWrittenIn) {
  Labels labels{4, 3, 6, {1, 1, 2, 2, 3, 3, 0, 4, 5, 5, 6, 6}};
  const std::vector<std::int64_t> expected(labels.values.begin(), labels.values.end());
  for (const LabelFormat format :
       {LabelFormat::kGreyPng, LabelFormat::kIndexedPng, LabelFormat::kTiff, LabelFormat::kNpy}) {
    const Raster raster = decode_raster(encode_labels(labels, format));
    EXPECT_EQ(raster.width, 4);
    EXPECT_EQ(raster.height, 3);
    EXPECT_EQ(whole_numbers(raster, 0, 6, "labels"), expected);
    EXPECT_TRUE(raster.is_integer);
    EXPECT_EQ(raster.is_indexed, format == LabelFormat::kIndexedPng);
  }
}

TEST(Raster, ColourIsRefusedUnlessItIsGrey) {
  cv::Mat grey(2, 2, CV_8UC3, cv::Scalar(7, 7, 7));
  EXPECT_EQ(decode_raster(testing::encode(".png", grey)).values, std::vector<double>(4, 7));
  grey.at<cv::Vec3b>(1, 1)[2] = 8;
  EXPECT_THAT(image_raster_failure(testing::encode(".png", grey)), HasSubstr("colour"));
  EXPECT_THAT(image_raster_failure(testing::encode(".jpg", grey)), HasSubstr("expected PNG"));
}

TEST(Raster, MessagesNameTheFile) {
  const testing::TempFolder folder;
  const std::string path = folder.write("x.npy", {0x93, 'N', 'U', 'M', 'P', 'Y', 1});
  EXPECT_THAT(message_of<InputError>([&] { read_raster(path); }),
              AllOf(HasSubstr(path), HasSubstr("cut off")));
  EXPECT_THROW(read_raster(folder / "missing.png"), InputError);
  EXPECT_THROW(read_raster(folder / ""), InputError);
}

/// Colours as OpenCV has them.
const cv::Scalar kRed(0, 0, 255, 255);
const cv::Scalar kBlue(255, 0, 0, 255);
const cv::Scalar kWhite(255, 255, 255, 255);

Seeds seeds_of(const cv::Mat& picture) {
  const TempFolder folder;
  EXPECT_TRUE(cv::imwrite(folder / "marks.png", picture));
  return read_seeds(folder / "marks.png");
}

std::set<std::int32_t> numbers_of(const Seeds& seeds) {
  return {seeds.labels.begin(), seeds.labels.end()};
}

/// A stroke of each colour on a ground.
cv::Mat strokes(int type, const cv::Scalar& ground, int line_type) {
  cv::Mat picture(120, 160, type, ground);
  cv::line(picture, {10, 10}, {100, 57}, kRed, 7, line_type);
  cv::circle(picture, {110, 80}, 20, kBlue, cv::FILLED, line_type);
  return picture;
}

TEST(PaintedSeeds, SoftEdgesAreLeftOut) {
  const Seeds hard = seeds_of(strokes(CV_8UC3, kWhite, cv::LINE_8));
  const Seeds smooth = seeds_of(strokes(CV_8UC3, kWhite, cv::LINE_AA));
  EXPECT_THAT(numbers_of(smooth), ElementsAre(0, 1, 2));
  EXPECT_THAT(smooth.notes[0],
              ::testing::ContainsRegex("left out: [0-9]+ pixels of mixed colours[.]"));
  cv::Mat blurred;
  cv::GaussianBlur(strokes(CV_8UC3, kWhite, cv::LINE_8), blurred, {}, 2);
  const Seeds soft = seeds_of(blurred);
  EXPECT_THAT(numbers_of(soft), ElementsAre(0, 1, 2));
  // A smooth line is as much as a pixel wider than one without.
  cv::Mat reach;
  cv::Mat hard_labels(120, 160, CV_32S, const_cast<std::int32_t*>(hard.labels.data()));
  hard_labels.convertTo(reach, CV_8U);
  cv::dilate(reach, reach, cv::Mat::ones(3, 3, CV_8U));
  for (std::size_t i = 0; i < hard.labels.size(); ++i) {
    EXPECT_TRUE(soft.labels[i] == 0 || soft.labels[i] == hard.labels[i]) << i;
    EXPECT_TRUE(smooth.labels[i] == 0 || smooth.labels[i] == reach.data[i]) << i;
  }
}

TEST(PaintedSeeds, LongSoftStrokesAreOneColourEach) {
  // Along a straight stroke whole rows of the edge have one colour.
  cv::Mat picture(120, 400, CV_8UC3, kWhite);
  cv::line(picture, {10, 20}, {390, 22}, kRed, 9, cv::LINE_AA);
  cv::line(picture, {10, 60}, {390, 60}, kBlue, 5, cv::LINE_AA);
  cv::GaussianBlur(picture, picture, {}, 1.5);
  EXPECT_THAT(numbers_of(seeds_of(picture)), ElementsAre(0, 1, 2));
  // A brush that is soft to its middle.
  cv::Mat soft(100, 100, CV_8UC3, kWhite);
  cv::circle(soft, {30, 50}, 6, kRed, cv::FILLED);
  cv::circle(soft, {70, 50}, 6, kBlue, cv::FILLED);
  cv::GaussianBlur(soft, soft, {}, 4);
  EXPECT_THAT(numbers_of(seeds_of(soft)), ElementsAre(0, 1, 2));
}

TEST(PaintedSeeds, WhatIsTransparentIsNoSeed) {
  cv::Mat picture = strokes(CV_8UC4, cv::Scalar(0, 0, 0, 0), cv::LINE_8);
  picture.at<cv::Vec4b>(80, 131) = {0, 255, 0, 120};  // Of a soft edge.
  const Seeds seeds = seeds_of(picture);
  EXPECT_THAT(numbers_of(seeds), ElementsAre(0, 1, 2));
  EXPECT_EQ(seeds.labels[80 * 160 + 131], 0);
  EXPECT_THAT(seeds.notes[0], HasSubstr("what is transparent is no seed"));
}

TEST(PaintedSeeds, EachStrokeCountsByItsOwnOpacity) {
  const auto with_alpha = [](cv::Scalar colour, double alpha) {
    colour[3] = alpha;
    return colour;
  };
  cv::Mat picture(120, 160, CV_8UC4, cv::Scalar(0, 0, 0, 0));
  picture(cv::Rect(5, 5, 20, 20)) = kRed;
  picture(cv::Rect(35, 5, 20, 20)) = with_alpha(kRed, 204);
  picture(cv::Rect(65, 5, 20, 20)) = with_alpha(kBlue, 204);
  picture(cv::Rect(66, 6, 18, 18)) = with_alpha(kBlue, 210);  // Whose edge is softer.
  picture(cv::Rect(95, 5, 40, 2)) = cv::Scalar(0, 255, 0, 80);
  picture(cv::Rect(5, 25, 20, 1)) = cv::Scalar(0, 0, 249, 120);  // Edges of the first.
  picture(cv::Rect(5, 60, 20, 20)) = with_alpha(kBlue, 10);      // What an eraser left.
  const Seeds seeds = seeds_of(picture);
  EXPECT_THAT(seeds.notes, ElementsAre("Seeds are in colour: #0000ff is 1, #00ff00 is 2, #ff0000 "
                                       "is 3; what is transparent is no seed; left out: 476 pixels "
                                       "of #0000ff that are less opaque than their stroke, 20 "
                                       "pixels of mixed colours."));
  cv::Mat1i expected(120, 160, 0);
  expected(cv::Rect(5, 5, 20, 20)) = 3;
  expected(cv::Rect(35, 5, 20, 20)) = 3;
  expected(cv::Rect(66, 6, 18, 18)) = 1;
  expected(cv::Rect(95, 5, 40, 2)) = 2;
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), seeds.labels.begin()));
}

TEST(PaintedSeeds, AColourBetweenTwoOthersIsALabelWhereItIsPainted) {
  cv::Mat picture(60, 60, CV_8UC3, kWhite);
  picture(cv::Rect(5, 5, 10, 10)) = cv::Scalar(0, 0, 0);
  picture(cv::Rect(25, 5, 10, 10)) = cv::Scalar(128, 128, 128);
  picture(cv::Rect(45, 5, 10, 10)) = kRed;
  EXPECT_THAT(numbers_of(seeds_of(picture)), ElementsAre(0, 1, 2, 3));
}

TEST(PaintedSeeds, PhotographsAreRefusedAndGreyIsNumbers) {
  cv::Mat photo(40, 40, CV_8UC3);
  cv::randu(photo, 0, 256);
  EXPECT_THAT(message_of<InputError>([&] { seeds_of(photo); }),
              AllOf(HasSubstr("marks.png"), HasSubstr("colours, more than")));
  cv::Mat grey(8, 8, CV_8UC3, cv::Scalar::all(0));
  grey.at<cv::Vec3b>(1, 1) = {7, 7, 7};
  EXPECT_THAT(numbers_of(seeds_of(grey)), ElementsAre(0, 7));
}

}  // namespace
}  // namespace diacut::testing
