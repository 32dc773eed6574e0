#include <fmt/format.h>
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "camera_files.hpp"
#include "decoded_image.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "matchers.hpp"

/// What every format's decoder gives for every kind of sample, against the samples that were
/// written, and which way round.
namespace diacut::testing {
namespace {

/// A format, or a kind of data in it.
struct PictureFormat {
  std::string name;
  std::vector<int> depths;
  std::vector<int> channels;
  /// `orientation`: 0 for a file that does not tell it.
  std::function<FileBytes(const cv::Mat& samples, int orientation)> write;
  bool is_exact = true;  ///< Samples are kept to the bit.
  bool turns = true;     ///< Files tell the orientation.
};

FileBytes exif_of(int orientation, bool little_endian = true) {
  return orientation == 0 ? FileBytes() : exif_block(orientation, little_endian);
}

std::vector<PictureFormat> picture_formats() {
  const auto lossless_webp = [](const cv::Mat& samples) {
    return encode(".webp", samples, {cv::IMWRITE_WEBP_QUALITY, 101});
  };
  std::vector<PictureFormat> all = {
      {"BMP",
       {CV_8U},
       {1, 3},
       [](const cv::Mat& samples, int) { return encode(".bmp", samples); },
       true,
       false},
      {"WebP",
       {CV_8U},
       {3},
       [=](const cv::Mat& samples, int orientation) {
         const FileBytes plain = lossless_webp(samples);
         return orientation == 0 ? plain
                                 : webp_with(plain, samples.cols, samples.rows,
                                             {.exif = exif_block(orientation)});
       }},
      {"WebP with alpha",
       {CV_8U},
       {4},
       [=](const cv::Mat& samples, int) { return lossless_webp(samples); },
       true,
       false},
      {"JPEG XL",
       {CV_8U, CV_16U},
       {1, 3},
       [](const cv::Mat& samples, int orientation) {
         return write_jxl({.orientation = std::max(orientation, 1), .frames = {samples}});
       }},
      {"TIFF with a palette",  // Which takes libtiff's own way.
       {CV_8U},
       {1},
       [](const cv::Mat& samples, int orientation) {
         TiffPage page = tiff_page(samples);
         page.orientation = std::max(orientation, 1);
         page.photometric = PHOTOMETRIC_PALETTE;
         for (int k = 0; k < 3 * 256; ++k) {
           page.palette.push_back(static_cast<std::uint16_t>(k * 997));
         }
         return write_tiff({page});
       },
       false}};
  for (const bool yes : {false, true}) {
    const std::string end = yes ? " otherwise" : "";
    all.push_back(
        {"PNG" + end, {CV_8U, CV_16U}, {1, 2, 3, 4}, [=](const cv::Mat& samples, int orientation) {
           PngFile file = png_file(samples);
           file.is_interlaced = yes;
           file.exif = exif_of(orientation);
           return write_png(file);
         }});
    all.push_back({"JPEG 2000" + end,
                   {CV_8U, CV_16U},
                   {1, 3},
                   [=](const cv::Mat& samples, int) {
                     return write_jpeg2000({.samples = samples, .is_bare = yes});
                   },
                   true,
                   false});
    all.push_back({"JPEG" + end,
                   {CV_8U},
                   {3},
                   [=](const cv::Mat& samples, int orientation) {
                     const FileBytes plain = encode(".jpg", samples);
                     return orientation == 0 ? plain
                                             : jpeg_with_exif(plain, exif_of(orientation, yes));
                   },
                   false});
    all.push_back({"HEIF" + end,
                   {CV_8U},
                   {1},
                   [=](const cv::Mat& samples, int orientation) {
                     // Of grey the chromas, which have half the size in AVIF, are the same turned.
                     cv::Mat grey;
                     cv::cvtColor(samples, grey, cv::COLOR_GRAY2RGB);
                     return write_heif({.is_avif = yes,
                                        .orientation = std::max(orientation, 1),
                                        .pictures = {grey}});
                   },
                   false});
    for (const int tile : {0, 16}) {
      all.push_back({"TIFF, tile " + std::to_string(tile) + end,
                     {CV_8U, CV_16U, CV_32F, CV_64F},
                     {1, 2, 3, 4},
                     [=](const cv::Mat& samples, int orientation) {
                       TiffPage page = tiff_page(samples);
                       page.tile = tile;
                       page.is_separate = yes;
                       page.orientation = std::max(orientation, 1);
                       return write_tiff({page});
                     }});
    }
  }
  return all;
}

/// Calls `visit` with random samples of this size of each type that a format holds.
void each_type(int width, int height,
               const std::function<void(const PictureFormat&, const cv::Mat&)>& visit) {
  for (const PictureFormat& format : picture_formats()) {
    for (const int depth : format.depths) {
      for (const int channels : format.channels) {
        SCOPED_TRACE(fmt::format("{} of {} x {}, depth {}, {} channels", format.name, width, height,
                                 depth, channels));
        visit(format, samples_with_data(width, height, CV_MAKETYPE(depth, channels)));
      }
    }
  }
}

TEST(Decode, SamplesAreThoseThatWereStored) {
  for (const auto& [width, height] : kDecodedSizes) {
    each_type(width, height, [](const PictureFormat& format, const cv::Mat& samples) {
      if (!format.is_exact) return;
      const Image image = decoded_by_type(format.write(samples, 0), "a");
      expect_well_formed(image);
      EXPECT_TRUE(image.notes.empty() == image.valid.empty() || samples.total() == 1);
      expect_same(image, expected_image(samples, largest(samples)));
    });
  }
}

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

TEST(Orientation, OfEveryFormatAndDepth) {
  each_type(5, 3, [](const PictureFormat& format, const cv::Mat& samples) {
    if (!format.turns) return;
    const Image stored = decoded_by_type(format.write(samples, 0), "plain");
    ASSERT_EQ(stored.width, 5);
    for (int orientation = 1; orientation <= 8; ++orientation) {
      expect_turned(decoded_by_type(format.write(samples, orientation), "turned"), stored,
                    orientation);
    }
  });
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

TEST(DecodePng, PaletteWithTransparentColours) {
  const PngFile file{.width = 4,
                     .height = 1,
                     .bits = 2,
                     .colour_type = PNG_COLOR_TYPE_PALETTE,
                     .rows = {{0, 1, 2, 3}},
                     .palette = {255, 0, 0, 0, 255, 0, 0, 0, 255, 51, 102, 204},
                     .palette_alpha = {255, 0, 128}};
  const Image image = decoded_by_type(testing::write_png(file), "palette.png");
  EXPECT_EQ(image.channels, 3);
  EXPECT_THAT(image.pixels, ElementsAre(1, 0, 0, 0, 0, 0, 0, 0, 1, 0.2f, 0.4f, 0.8f));
  EXPECT_THAT(image.valid, ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(image.notes, ElementsAre(HasSubstr("1 of 4 pixels are transparent")));
}

TEST(DecodePng, OfAnAnimationTheFirstFrameIsRead) {
  FileBytes file = write_png(png_file(testing::random_samples(3, 2, CV_8UC1)));
  // Behind the chunk of the head: of three frames.
  const FileBytes chunk = {0, 0, 0, 8, 'a', 'c', 'T',  'L',  0,    0,
                           0, 3, 0, 0, 0,   0,   0xce, 0xed, 0xba, 0xc0};
  file.insert(file.begin() + 33, chunk.begin(), chunk.end());
  EXPECT_THAT(decode_image(file, "a.png").notes, Contains(HasSubstr("first frame alone")));
  EXPECT_THAT(message_of<InputError>([&] {
                decode_image(file, "a.png", {}, {2, ""});
              }),
              HasSubstr("only the first frame is read"));
}

TEST(DecodePng, OneColourCanBeTransparent) {
  PngFile file = png_file(
      (cv::Mat_<cv::Vec3b>(1, 3) << cv::Vec3b(9, 8, 7), cv::Vec3b::all(255), cv::Vec3b(9, 8, 6)));
  file.transparent = {9, 8, 7};
  const Image colour = decoded_by_type(testing::write_png(file), "colour.png");
  EXPECT_THAT(colour.valid, ElementsAre(0, 1, 1));
  EXPECT_EQ(colour.pixels[0], 0.0f);
  EXPECT_FLOAT_EQ(colour.pixels[8], 6 / 255.f);
  file = png_file((cv::Mat_<std::uint16_t>(1, 3) << 700, 65535, 701));
  file.transparent = {700};
  EXPECT_THAT(decoded_by_type(testing::write_png(file), "grey.png").valid, ElementsAre(0, 1, 1));
}

TEST(DecodeLossy, AsOpenCvDoes) {
  struct Case {
    const char* extension;
    int type;
    std::vector<int> options;
  };
  for (auto [width, height] : kDecodedSizes) {
    for (const auto& [extension, type, options] :
         {Case{".jpg", CV_8UC1, {}}, Case{".jpg", CV_8UC3, {}},
          Case{".jpg", CV_8UC1, {cv::IMWRITE_JPEG_PROGRESSIVE, 1}},
          Case{".jpg", CV_8UC3, {cv::IMWRITE_JPEG_PROGRESSIVE, 1}},
          Case{".webp", CV_8UC3, {cv::IMWRITE_WEBP_QUALITY, 80}}}) {
      const FileBytes file =
          testing::encode(extension, testing::random_samples(width, height, type), options);
      cv::Mat expected = cv::imdecode(file, cv::IMREAD_UNCHANGED);
      if (type == CV_8UC3) cv::cvtColor(expected, expected, cv::COLOR_BGR2RGB);
      expect_same(decoded_by_type(file, "a"), expected_image(expected, 255));
    }
  }
}

TEST(DecodeJpeg, CmykEitherWayRound) {
  for (const char* name : {"cmyk.jpg", "cmyk_adobe.jpg"}) {
    const Image image = decoded_by_type(testing::stored_file(name), name);
    ASSERT_EQ(image.channels, 3);
    EXPECT_THAT(image.notes, ElementsAre(HasSubstr("CMYK")));
    // (1 - ink)(1 - black) of 204, 0, 128 and 51; a flat JPEG of the highest quality is off by a
    // step or two.
    EXPECT_NEAR(image.pixels[0], 0.2 * 0.8, 0.012);
    EXPECT_NEAR(image.pixels[1], 1.0 * 0.8, 0.012);
    EXPECT_NEAR(image.pixels[2], (1 - 128 / 255.0) * 0.8, 0.012);
  }
}

/// The picture's values times 255.
std::vector<int> values_of(const FileBytes& file) {
  const Image image = decoded_by_type(file, "a.bmp");
  std::vector<int> values;
  for (float value : image.pixels) values.push_back(static_cast<int>(value * 255 + 0.5f));
  return values;
}

TEST(DecodeBmp, FromTheBottomUpAndFromTheTopDown) {
  BmpFile bmp;
  bmp.pixels = {3, 2, 1, 6, 5, 4, 0, 0, 9, 8, 7, 12, 11, 10, 0, 0};
  EXPECT_THAT(values_of(testing::write_bmp(bmp)),
              ElementsAre(7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6));
  bmp.height = -2;
  EXPECT_THAT(values_of(testing::write_bmp(bmp)),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
}

TEST(DecodeBmp, TheFourthByteIsAlphaOnlyWhereAMaskSaysSo) {
  BmpFile bmp{
      .height = -2, .bits = 32, .pixels = {3, 2, 1, 0, 6, 5, 4, 255, 9, 8, 7, 128, 12, 11, 10, 1}};
  const Image plain = decoded_by_type(testing::write_bmp(bmp), "plain.bmp");
  EXPECT_THAT(plain.valid, IsEmpty());
  EXPECT_FLOAT_EQ(plain.pixels[0], 1 / 255.f);
  bmp.compression = 3;
  bmp.masks = {0xff0000, 0xff00, 0xff};
  bmp.header = 52;
  EXPECT_THAT(decoded_by_type(testing::write_bmp(bmp), "three.bmp").valid, IsEmpty());
  for (std::uint32_t header : {56u, 108u, 124u}) {
    bmp.masks = {0xff0000, 0xff00, 0xff, 0xff000000};
    bmp.header = header;
    const Image image = decoded_by_type(testing::write_bmp(bmp), "four.bmp");
    EXPECT_THAT(image.valid, ElementsAre(0, 1, 1, 0));
    EXPECT_FLOAT_EQ(image.pixels[3], 4 / 255.f);
    EXPECT_FLOAT_EQ(image.pixels[5], 6 / 255.f);
  }
  // An alpha that is zero everywhere is one that was never set.
  for (std::size_t k = 3; k < bmp.pixels.size(); k += 4) bmp.pixels[k] = 0;
  EXPECT_THAT(decoded_by_type(testing::write_bmp(bmp), "zero.bmp").valid, IsEmpty());
}

TEST(DecodeBmp, Palettes) {
  BmpFile bmp;
  bmp.height = -2;
  bmp.palette = {0x000000, 0xff8040, 0x00ff00, 0x0000ff};
  bmp.bits = 8;
  bmp.pixels = {1, 2, 0, 0, 3, 0, 0, 0};
  const std::vector<int> expected = {255, 128, 64, 0, 255, 0, 0, 0, 255, 0, 0, 0};
  EXPECT_EQ(values_of(testing::write_bmp(bmp)), expected);
  bmp.bits = 4;
  bmp.pixels = {0x12, 0, 0, 0, 0x30, 0, 0, 0};
  EXPECT_EQ(values_of(testing::write_bmp(bmp)), expected);
  bmp.bits = 1;
  bmp.palette = {0x000000, 0xffffff};
  bmp.pixels = {0x80, 0, 0, 0, 0x40, 0, 0, 0};
  EXPECT_THAT(values_of(testing::write_bmp(bmp)), ElementsAre(255, 0, 0, 255));
}

TEST(DecodeBmp, KindsThatWouldBeReadWronglyAreRefused) {
  const std::vector<std::uint32_t> masks = {0xff, 0xff00, 0xff0000, 0};
  const std::vector<std::uint32_t> greys(256, 0x808080);
  const FileBytes pixels(16);
  for (const BmpFile& bmp : {
           BmpFile{.bits = 32, .compression = 3, .header = 56, .masks = masks, .pixels = pixels},
           BmpFile{.bits = 16, .header = 56, .masks = masks, .pixels = pixels},
           // A JPEG within, and run lengths.
           BmpFile{.bits = 16, .compression = 4, .header = 56, .masks = masks, .pixels = pixels},
           BmpFile{.bits = 8, .compression = 1, .palette = greys, .pixels = pixels},
       }) {
    EXPECT_THROW(decoded_by_type(testing::write_bmp(bmp), "a.bmp"), InputError) << bmp.bits;
  }
}

}  // namespace
}  // namespace diacut::testing
