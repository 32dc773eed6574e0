#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <set>
#include <string>

#include "diacut/errors.hpp"
#include "diacut/seeds.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using ::diacut::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST(PaintedSeeds, EachColourIsALabelAndTheMostCommonOneNone) {
  const Seeds seeds = seeds_of(strokes(CV_8UC3, kWhite, cv::LINE_8));
  EXPECT_THAT(numbers_of(seeds), ElementsAre(0, 1, 2));
  EXPECT_EQ(seeds.labels[80 * 160 + 110], 1);
  EXPECT_EQ(seeds.labels[10 * 160 + 10], 2);
  EXPECT_EQ(seeds.labels[0], 0);
  EXPECT_THAT(seeds.notes, ElementsAre("Seeds are in colour: #0000ff is 1, #ff0000 is 2; #ffffff "
                                       "is no seed."));
}

TEST(PaintedSeeds, SoftEdgesAreLeftOut) {
  const Seeds hard = seeds_of(strokes(CV_8UC3, kWhite, cv::LINE_8));
  const Seeds smooth = seeds_of(strokes(CV_8UC3, kWhite, cv::LINE_AA));
  EXPECT_THAT(numbers_of(smooth), ElementsAre(0, 1, 2));
  EXPECT_THAT(smooth.notes[0], HasSubstr("pixels of mixed colours are left out"));
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
  picture.at<cv::Vec4b>(100, 20) = {0, 255, 0, 120};  // Of a soft edge.
  const Seeds seeds = seeds_of(picture);
  EXPECT_THAT(numbers_of(seeds), ElementsAre(0, 1, 2));
  EXPECT_EQ(seeds.labels[100 * 160 + 20], 0);
  EXPECT_THAT(seeds.notes[0], HasSubstr("what is transparent is no seed"));
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
  try {
    seeds_of(photo);
    FAIL() << "a photograph is no painting";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                ::testing::AllOf(HasSubstr("marks.png"), HasSubstr("colours, more than")));
  }
  cv::Mat grey(8, 8, CV_8UC3, cv::Scalar::all(0));
  grey.at<cv::Vec3b>(1, 1) = {7, 7, 7};
  EXPECT_THAT(numbers_of(seeds_of(grey)), ElementsAre(0, 7));
}

}  // namespace
}  // namespace diacut
