// --page all: every page of a file is an image, and the labels are the pages of one TIFF.
#include <tiffio.h>

#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "cli_test.hpp"
#include "image_files.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

class CliStack : public CliTest {
 protected:
  /// A page whose left part of `split` columns is dark.
  static cv::Mat page(int width, int height, int split) {
    cv::Mat pixels(height, width, CV_8U, cv::Scalar(220));
    pixels.colRange(0, split).setTo(30);
    return pixels;
  }

  void write_stack(const std::string& name, const std::vector<cv::Mat>& pages) const {
    ASSERT_TRUE(cv::imwritemulti(path(name), pages));
  }

  std::vector<cv::Mat> read_stack(const std::string& name) const {
    std::vector<cv::Mat> pages;
    EXPECT_TRUE(cv::imreadmulti(path(name), pages, cv::IMREAD_UNCHANGED)) << name;
    return pages;
  }

  static void expect_equal(const cv::Mat& labels, const cv::Mat& expected) {
    cv::Mat as_integers;
    expected.convertTo(as_integers, CV_32S);
    ASSERT_EQ(labels.type(), CV_32SC1);
    ASSERT_EQ(labels.size(), expected.size());
    EXPECT_EQ(cv::countNonZero(labels != as_integers), 0);
  }
};

TEST_F(CliStack, LabelsOfAllPagesAreThePagesOfOneFile) {
  const std::vector<cv::Mat> pages = {page(16, 12, 5), page(16, 12, 11), page(20, 9, 8)};
  write_stack("stack.tif", pages);
  const Result result =
      expect_done(segment("stack.tif --page all -o labels.tif --overlay overlays --regions 2 "
                          "--json report.jsonl --coco regions.json"));
  EXPECT_THAT(result.err, HasSubstr("3 done, 0 skipped, 0 failed"));
  EXPECT_THAT(result.err, HasSubstr("labels in 'labels.tif'"));
  EXPECT_THAT(result.err, Not(HasSubstr("the first was read")));
  const std::vector<cv::Mat> labels = read_stack("labels.tif");
  ASSERT_EQ(labels.size(), pages.size());
  for (std::size_t k = 0; k < pages.size(); ++k) {
    const std::string number = std::to_string(k + 1);
    EXPECT_TRUE(exists("overlays/stack-" + number + ".png"));
    expect_done(segment(fmt::format("stack.tif --page {} -o one.png --regions 2", number)));
    expect_equal(labels[k], read_picture("one.png"));
  }
  int number = 0;
  for (const nlohmann::json& report : json_lines(read("report.jsonl"))) {
    EXPECT_EQ(report["input"], "stack.tif");
    EXPECT_EQ(report["page"], ++number);
  }
  EXPECT_EQ(number, 3);
  const auto coco = nlohmann::json::parse(read("regions.json"));
  ASSERT_EQ(coco["images"].size(), 3U);
  EXPECT_EQ(coco["images"][2]["file_name"], "stack-3.tif");
}

TEST_F(CliStack, AFailedPageLeavesNoFileOfLabels) {
  // The second page has more pixels than are read.
  write_stack("two.tif", {page(16, 12, 5), page(30, 12, 11)});
  const Result result =
      segment("two.tif --page all -o labels.tif --set image.max_pixels=200 --json -");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("1 done, 0 skipped, 1 failed"));
  EXPECT_THAT(result.err, HasSubstr("'labels.tif' is not written"));
  EXPECT_THAT(result.err, Not(HasSubstr("labels in")));
  EXPECT_THAT(result.out, HasSubstr("\"page\":2"));
  EXPECT_FALSE(exists("labels.tif"));
}

/// Two slices of two channels as ImageJ writes them: 2 pixels to the micrometre across, 4 down.
FileBytes imagej_stack() {
  std::vector<TiffPage> pages;
  for (int plane = 0; plane < 4; ++plane) {
    cv::Mat samples(12, 16, CV_16U, cv::Scalar(5000));
    samples.colRange(0, 6).setTo(plane % 2 == 0 ? 1000 : 7000 + plane);
    pages.push_back(tiff_page(samples));
    pages.back().description =
        "ImageJ=1.53t\nimages=4\nchannels=2\nslices=2\nunit=micron\nspacing=3\n";
    pages.back().set_tags = [](TIFF* tiff) {
      TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
      TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 2.0);
      TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 4.0);
    };
  }
  return write_tiff(pages);
}

TEST_F(CliStack, OneTableMeasuresAllChannelsAndLabelsKeepAxesAndPixels) {
  const FileBytes cells = imagej_stack();
  write("cells.tif", {cells.begin(), cells.end()});
  expect_done(segment(
      "cells.tif --page all --channel 1 --regions 2 --boundary gradient -o labels.TIF --table "
      "t.csv --measure all"));
  const std::string table = read("t.csv");
  EXPECT_THAT(table, ::testing::StartsWith("file,page,label,area,area_um2,x,y,"));
  EXPECT_THAT(table, HasSubstr("\ncells.tif,1,1,72,9,0,0,6,12,"));
  EXPECT_THAT(table, HasSubstr(",1000,0,1000,1000,1000,72000,7001,0,7001,7001,7001,504072,1,"));
  EXPECT_THAT(table, HasSubstr(",1000,0,1000,1000,1000,72000,7003,0,7003,7003,7003,504216,1,"));
  TIFF* labels = TIFFOpen(path("labels.TIF").c_str(), "r");
  ASSERT_NE(labels, nullptr);
  const char* text = nullptr;
  float across = 0;
  EXPECT_EQ(TIFFGetField(labels, TIFFTAG_IMAGEDESCRIPTION, &text), 1);
  EXPECT_THAT(text, ::testing::AllOf(HasSubstr("images=2\nslices=2\nframes=1\n"),
                                     HasSubstr("unit=micron\nspacing=3\n")));
  EXPECT_EQ(TIFFGetField(labels, TIFFTAG_XRESOLUTION, &across), 1);
  EXPECT_EQ(across, 2.0F);
  TIFFClose(labels);
  // Objects go through the slices of one channel: 3 of each 8 pixels, 2 slices of 3 micrometres.
  const Result linked = expect_done(segment(
      "cells.tif --page all --channel 1 --regions 2 --boundary gradient --link -o l.tif --table "
      "l.csv"));
  EXPECT_THAT(linked.err, HasSubstr("linked into 2 objects, 0 splits and 0 merges"));
  EXPECT_THAT(read("l-objects.csv"), HasSubstr("\ncells.tif,1,1,2,2,144,54\n"));
  const Result mixed = segment("cells.tif --page all --link -o m.tif --boundary gradient");
  EXPECT_EQ(mixed.exit_code, 3);
  EXPECT_THAT(mixed.err,
              ::testing::AllOf(HasSubstr("planes of 2 channels"), HasSubstr("--channel")));
  EXPECT_FALSE(exists("m.tif"));
  // Pages without a channel are planes, and other channels those of the same slice.
  expect_done(
      segment("cells.tif --page 3 --boundary gradient -o u.tif --table u.csv --measure all"));
  EXPECT_THAT(read("u.csv"), HasSubstr(",1000,72000,7003,0,7003,"));
}

TEST_F(CliStack, LinkedPagesKeepTheirNumbers) {
  // The left part shrinks; on page 2 the right one comes first in scan order.
  cv::Mat second = page(16, 12, 5);
  second.row(0).setTo(220);
  write_stack("stack.tif", {page(16, 12, 6), second, page(16, 12, 5)});
  const std::string run =
      "stack.tif --page all --boundary gradient --spectral never -o labels.tif --regions 2 --table "
      "t.csv";
  expect_done(segment(run));
  EXPECT_EQ(read_stack("labels.tif")[1].at<std::int32_t>(6, 1), 2);
  expect_done(segment(run + " --link --link-overlap 0.5"));
  for (const cv::Mat& labels : read_stack("labels.tif")) {
    EXPECT_EQ(labels.at<std::int32_t>(6, 1), 1);
    EXPECT_EQ(labels.at<std::int32_t>(6, 14), 2);
  }
  EXPECT_THAT(read("t.csv"), HasSubstr("\nstack.tif,2,2,"));
  EXPECT_EQ(read("t-objects.csv"),
            "file,label,first_page,last_page,pages,pixels,volume_um3\n"
            "stack.tif,1,1,3,3,186,\nstack.tif,2,1,3,3,390,\n");
  write_stack("sizes.tif", {page(16, 12, 5), page(20, 12, 5), page(16, 12, 5)});
  const Result sizes = segment("sizes.tif --page all --boundary gradient --link -o x.tif");
  EXPECT_EQ(sizes.exit_code, 3);
  EXPECT_THAT(sizes.err, HasSubstr("of one size"));
}

}  // namespace
}  // namespace diacut::testing
