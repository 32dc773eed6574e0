#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

// Where the stored pixel (column, row) is shown, in a stored picture of width w and height h: the
// definition of each value in EXIF 2.3 by where its row 0 and column 0 are.
std::array<int, 2> shown_at(int orientation, int x, int y, int w, int h) {
  switch (orientation) {
    case 2:  // Row 0 at the top, column 0 at the right.
      return {w - 1 - x, y};
    case 3:  // Bottom, right.
      return {w - 1 - x, h - 1 - y};
    case 4:  // Bottom, left.
      return {x, h - 1 - y};
    case 5:  // Row 0 at the left, column 0 at the top.
      return {y, x};
    case 6:  // Row 0 at the right, column 0 at the top.
      return {h - 1 - y, x};
    case 7:  // Right, bottom.
      return {h - 1 - y, w - 1 - x};
    case 8:  // Left, bottom.
      return {y, w - 1 - x};
    default:
      return {x, y};
  }
}

void expect_turned(const Image& shown, const Image& stored, int orientation) {
  SCOPED_TRACE("orientation " + std::to_string(orientation));
  const bool is_sideways = orientation >= 5 && orientation <= 8;
  ASSERT_EQ(shown.width, is_sideways ? stored.height : stored.width);
  ASSERT_EQ(shown.height, is_sideways ? stored.width : stored.height);
  ASSERT_EQ(shown.channels, stored.channels);
  const auto channels = static_cast<std::size_t>(stored.channels);
  for (int y = 0; y < stored.height; ++y) {
    for (int x = 0; x < stored.width; ++x) {
      const auto [u, v] = shown_at(orientation, x, y, stored.width, stored.height);
      const auto from = static_cast<std::size_t>(y * stored.width + x);
      const auto to = static_cast<std::size_t>(v * shown.width + u);
      for (std::size_t k = 0; k < channels; ++k) {
        ASSERT_EQ(shown.pixels[to * channels + k], stored.pixels[from * channels + k])
            << "stored at column " << x << ", row " << y;
      }
      if (!stored.valid.empty()) {
        ASSERT_EQ(shown.valid[to], stored.valid[from]);
      }
    }
  }
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
  TiffPage palette;  // Which takes libtiff's own way.
  palette.width = 5;
  palette.height = 3;
  palette.photometric = PHOTOMETRIC_PALETTE;
  for (int k = 0; k < 5 * 3; ++k) palette.samples.push_back(static_cast<std::uint8_t>(k));
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
      expect_turned(decode_image(jpeg_with_exif(jpeg, block), "turned.jpg"), stored, orientation);
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
