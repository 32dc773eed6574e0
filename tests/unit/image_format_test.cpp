#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "camera_files.hpp"
#include "diacut/errors.hpp"
#include "image/format.hpp"
#include "image_files.hpp"

namespace diacut {
namespace {

using ::testing::HasSubstr;
using std::string_literals::operator""s;

Bytes image_format_bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string refusal(const std::string& head) {
  try {
    identify_format(image_format_bytes_of(head));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ImageFormat, IsToldFromTheFirstBytes) {
  const cv::Mat samples = testing::random_samples(3, 2, CV_8UC3);
  EXPECT_EQ(identify_format(testing::encode(".png", samples)), ImageFormat::kPng);
  EXPECT_EQ(identify_format(testing::encode(".jpg", samples)), ImageFormat::kJpeg);
  EXPECT_EQ(identify_format(testing::encode(".bmp", samples)), ImageFormat::kBmp);
  EXPECT_EQ(identify_format(testing::encode(".webp", samples)), ImageFormat::kWebp);
  for (const char* mode : {"wl", "wb", "wl8", "wb8"}) {  // Both byte orders, classic and BigTIFF.
    EXPECT_EQ(identify_format(testing::write_tiff({testing::tiff_page(samples)}, mode)),
              ImageFormat::kTiff);
  }
}

TEST(ImageFormat, ThoseOfCamerasAreToldFromTheFirstBytes) {
  const cv::Mat samples = testing::random_samples(32, 24, CV_8UC3);
  EXPECT_EQ(identify_format(testing::write_heif({.pictures = {samples}})), ImageFormat::kHeif);
  EXPECT_EQ(identify_format(testing::write_heif({.is_avif = true, .pictures = {samples}})),
            ImageFormat::kHeif);
  EXPECT_EQ(identify_format(testing::write_jxl({.frames = {samples}})), ImageFormat::kJxl);
  EXPECT_EQ(identify_format(testing::write_jpeg2000(samples)), ImageFormat::kJpeg2000);
  EXPECT_EQ(identify_format(testing::write_jpeg2000(samples, 8, true)), ImageFormat::kJpeg2000);
  for (const char* head : {"P1 3 2 0", "P5\n# by a scanner\n3 2", "P7\nWIDTH 3"}) {
    EXPECT_EQ(identify_format(image_format_bytes_of(head)), ImageFormat::kPnm) << head;
  }
  const testing::FileBytes dng = testing::write_dng(cv::Mat(24, 32, CV_16UC3, cv::Scalar::all(9)));
  EXPECT_EQ(identify_format(dng), ImageFormat::kTiff);
  EXPECT_TRUE(is_raw_tiff(dng));
  EXPECT_FALSE(is_raw_tiff(testing::write_tiff({testing::tiff_page(samples)})));
}

TEST(ImageFormat, OthersAreNamedWithWhatIsRead) {
  const std::vector<std::pair<std::string, std::string>> others = {
      {"\0\0\0\x1c"
       "ftypisom"s,
       "a video"},
      {"%PDF-1.7\n%\xe2\xe3"s, "a PDF"},
      {std::string(128, '\0') + "DICM"s, "a DICOM file"},
      {"PK\3\4\0\0"s, "a ZIP archive"},
      {"\x93NUMPY\1\0"s, "a NumPy array"},
      {"not a picture at all\n"s, "a text file"},
      {"BMW and other cars\n"s, "a text file"},
      {"P1 is a point\n"s, "a text file"},
      {"na\xc3\xafve text\n"s, "a text file"},
      {"\1\2\3\4\5\6\7\x08\x09"s, "its first bytes are 01 02 03 04 05 06 07 08)"},
      {"\x89PN"s, "its first bytes are 89 50 4e)"},
  };
  for (const auto& [head, name] : others) {
    EXPECT_THAT(refusal(head), HasSubstr(name));
    EXPECT_THAT(refusal(head), HasSubstr("GIF, BMP and PNM are read"));
  }
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
}

}  // namespace
}  // namespace diacut
