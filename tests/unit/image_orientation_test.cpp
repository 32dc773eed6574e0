#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "camera_files.hpp"
#include "image/decoded.hpp"
#include "image_files.hpp"

namespace diacut::testing {
namespace {

/// What is stored, as an orientation shows it: EXIF 2.3 defines each by where row 0 and column 0 of
/// the stored picture are.
cv::Mat shown_as(const cv::Mat& stored, int orientation) {
  cv::Mat shown = stored.clone();
  if (orientation >= 5) cv::transpose(stored, shown);  // Row 0 is at a side.
  constexpr int kBoth = -1, kUpDown = 0, kLeftRight = 1, kNone = 2;
  // Top left, top right, bottom right, bottom left; left top, right top, right bottom, left bottom.
  constexpr std::array kFlips = {kNone, kLeftRight, kBoth, kUpDown};
  const int flip = kFlips.at(static_cast<std::size_t>(orientation - 1) % 4);
  if (flip != kNone) cv::flip(shown.clone(), shown, flip);
  return shown;
}

void expect_turned(const Image& shown, const Image& stored, int orientation) {
  SCOPED_TRACE("orientation " + std::to_string(orientation));
  ASSERT_EQ(shown.channels, stored.channels);
  const auto expect_planes = [&](const auto& seen, const auto& kept, int type) {
    const cv::Mat whole(stored.height, stored.width, type,
                        const_cast<void*>(static_cast<const void*>(kept.data())));
    const cv::Mat expected = shown_as(whole, orientation);
    ASSERT_EQ(shown.width, expected.cols);
    ASSERT_EQ(shown.height, expected.rows);
    ASSERT_EQ(seen.size() * sizeof seen[0], expected.total() * expected.elemSize());
    EXPECT_EQ(std::memcmp(seen.data(), expected.data, seen.size() * sizeof seen[0]), 0);
  };
  expect_planes(shown.pixels, stored.pixels, CV_32FC(stored.channels));
  if (!stored.valid.empty()) expect_planes(shown.valid, stored.valid, CV_8U);
}

/// A format, or a kind of data in it, and how a picture of 5 x 3 pixels is stored in it.
struct TurnedFormat {
  std::string name;
  /// 0: the file does not tell the orientation.
  std::function<FileBytes(int orientation)> file;
};

/// A file that tells the orientation by an EXIF block.
TurnedFormat by_exif(const std::string& name, const FileBytes& plain,
                     const std::function<FileBytes(const FileBytes& block)>& with,
                     bool little_endian = true) {
  return {name, [=](int orientation) {
            return orientation == 0 ? plain : with(exif_block(orientation, little_endian));
          }};
}

TurnedFormat by_tag(const std::string& name, TiffPage page) {
  return {name, [page](int orientation) mutable {
            page.orientation = std::max(orientation, 1);
            return write_tiff({page});
          }};
}

std::vector<TurnedFormat> turned_formats() {
  const cv::Mat colours = random_samples(5, 3, CV_8UC3);
  const FileBytes jpeg = encode(".jpg", colours);
  const FileBytes webp = encode(".webp", colours, {cv::IMWRITE_WEBP_QUALITY, 101});
  const PngFile png = png_file(random_samples(5, 3, CV_16UC4));
  std::vector<TurnedFormat> all;
  for (const bool little_endian : {true, false}) {
    all.push_back(by_exif(
        "JPEG", jpeg, [=](const FileBytes& block) { return jpeg_with_exif(jpeg, block); },
        little_endian));
  }
  all.push_back(by_exif("WebP", webp,
                        [=](const FileBytes& block) { return webp_with_exif(webp, 5, 3, block); }));
  all.push_back(by_exif("PNG", write_png(png), [=](const FileBytes& block) {
    PngFile turned = png;
    turned.exif = block;
    return write_png(turned);
  }));
  for (const int type : {CV_8UC3, CV_16UC1, CV_16UC4, CV_32FC1, CV_64FC4}) {
    all.push_back(by_tag("TIFF " + std::to_string(type), tiff_page(random_samples(5, 3, type))));
  }
  TiffPage palette = tiff_page(random_samples(5, 3, CV_8UC1));  // Which takes libtiff's own way.
  palette.photometric = PHOTOMETRIC_PALETTE;
  for (int k = 0; k < 3 * 256; ++k) palette.palette.push_back(static_cast<std::uint16_t>(k * 997));
  all.push_back(by_tag("TIFF with a palette", palette));
  // Of grey the chromas, which have half the size in AVIF, are the same turned.
  cv::Mat grey;
  cv::cvtColor(random_samples(5, 3, CV_8UC1), grey, cv::COLOR_GRAY2RGB);
  for (const bool is_avif : {false, true}) {
    all.push_back({is_avif ? "AVIF" : "HEIC", [=](int orientation) {
                     return write_heif({.is_avif = is_avif,
                                        .orientation = std::max(orientation, 1),
                                        .pictures = {grey}});
                   }});
  }
  all.push_back({"JPEG XL", [=](int orientation) {
                   return write_jxl({.orientation = std::max(orientation, 1), .frames = {colours}});
                 }});
  return all;
}

TEST(Orientation, OfEveryFormatAndDepth) {
  for (const TurnedFormat& format : turned_formats()) {
    SCOPED_TRACE(format.name);
    const Image stored = decode_image(format.file(0), "plain");
    ASSERT_EQ(stored.width, 5);
    for (int orientation = 1; orientation <= 8; ++orientation) {
      expect_turned(decode_image(format.file(orientation), "turned"), stored, orientation);
    }
  }
}

TEST(Orientation, OfNumbersThatMeanNothingIsUpright) {
  const FileBytes jpeg = encode(".jpg", random_samples(5, 3, CV_8UC3));
  const Image stored = decode_image(jpeg, "plain.jpg");
  for (const bool little_endian : {true, false}) {
    for (const int orientation : {0, 9}) {
      const FileBytes block = exif_block(orientation, little_endian);
      expect_turned(decode_image(jpeg_with_exif(jpeg, block), "turned.jpg"), stored, 1);
    }
  }
}

TEST(ExifOrientation, IsOneForBlocksThatMakeNoSense) {
  const FileBytes block = testing::exif_block(6);
  ASSERT_EQ(exif_orientation(block), 6);
  // Cut at every byte: the entry's value lies in the last eight.
  for (std::size_t size = 0; size < block.size() - 4; ++size) {
    EXPECT_EQ(exif_orientation(Bytes(block).first(size)), 1) << size;
  }
  FileBytes far_directory = block;
  far_directory[7] = 0xff;
  EXPECT_EQ(exif_orientation(far_directory), 1);
  FileBytes many_entries = testing::exif_block(6);
  many_entries[8] = many_entries[9] = 0xff;
  EXPECT_EQ(exif_orientation(many_entries), 6);
  many_entries[22] = 0;  // Not the tag any more: the search runs to the end of the block.
  EXPECT_EQ(exif_orientation(many_entries), 1);
}

}  // namespace
}  // namespace diacut::testing
