#include <gtest/gtest.h>

#include <array>
#include <opencv2/imgcodecs.hpp>
#include <string>

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

constexpr int kImageOrientationWidth = 5;
constexpr int kImageOrientationHeight = 3;

TEST(Orientation, OfJpeg) {
  const FileBytes jpeg = testing::encode(
      ".jpg", testing::random_samples(kImageOrientationWidth, kImageOrientationHeight, CV_8UC3));
  const Image stored = decode_image(jpeg, "plain.jpg");
  ASSERT_EQ(stored.width, kImageOrientationWidth);
  ASSERT_EQ(stored.channels, 3);
  for (bool little_endian : {true, false}) {
    for (int orientation = 0; orientation <= 9; ++orientation) {  // 0 and 9 mean nothing.
      const FileBytes block = testing::exif_block(orientation, little_endian);
      expect_turned(decode_image(testing::jpeg_with_exif(jpeg, block), "turned.jpg"), stored,
                    orientation);
    }
  }
}

TEST(Orientation, OfPngKeepsDepthAndNoData) {
  const cv::Mat samples =
      testing::random_samples(kImageOrientationWidth, kImageOrientationHeight, CV_16UC4);
  testing::PngFile file;
  file.width = kImageOrientationWidth;
  file.height = kImageOrientationHeight;
  file.bits = 16;
  file.colour_type = 6;
  for (int y = 0; y < kImageOrientationHeight; ++y) {
    file.rows.emplace_back(samples.ptr(y), samples.ptr(y) + samples.step[0]);
  }
  const Image stored = decode_image(testing::write_png(file), "plain.png");
  ASSERT_FALSE(stored.valid.empty());
  for (int orientation = 1; orientation <= 8; ++orientation) {
    file.exif = testing::exif_block(orientation);
    expect_turned(decode_image(testing::write_png(file), "turned.png"), stored, orientation);
  }
}

TEST(Orientation, OfWebp) {
  const FileBytes webp = testing::encode(
      ".webp", testing::random_samples(kImageOrientationWidth, kImageOrientationHeight, CV_8UC3),
      {cv::IMWRITE_WEBP_QUALITY, 101});
  const Image stored = decode_image(webp, "plain.webp");
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const FileBytes block = testing::exif_block(orientation);
    expect_turned(decode_image(testing::webp_with_exif(webp, kImageOrientationWidth,
                                                       kImageOrientationHeight, block),
                               "turned.webp"),
                  stored, orientation);
  }
}

TEST(Orientation, OfTiffOfEveryDepth) {
  for (int type : {CV_8UC3, CV_16UC1, CV_16UC4, CV_32FC1, CV_64FC4}) {
    testing::TiffPage page = testing::tiff_page(
        testing::random_samples(kImageOrientationWidth, kImageOrientationHeight, type));
    const Image stored = decode_image(testing::write_tiff({page}), "plain.tif");
    for (int orientation = 1; orientation <= 8; ++orientation) {
      page.orientation = orientation;
      expect_turned(decode_image(testing::write_tiff({page}), "turned.tif"), stored, orientation);
    }
  }
}

TEST(Orientation, OfTiffThatIsConverted) {
  testing::TiffPage page;  // Palettes take libtiff's own way.
  page.width = kImageOrientationWidth;
  page.height = kImageOrientationHeight;
  page.photometric = 3;
  for (int k = 0; k < kImageOrientationWidth * kImageOrientationHeight; ++k)
    page.samples.push_back(static_cast<std::uint8_t>(k));
  for (int k = 0; k < 3 * 256; ++k) page.palette.push_back(static_cast<std::uint16_t>(k * 997));
  const Image stored = decode_image(testing::write_tiff({page}), "plain.tif");
  ASSERT_EQ(stored.channels, 3);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    page.orientation = orientation;
    expect_turned(decode_image(testing::write_tiff({page}), "turned.tif"), stored, orientation);
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
