#include <gtest/gtest.h>
#include <png.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "decoded_image.hpp"
#include "diacut/errors.hpp"
#include "image_files.hpp"
#include "matchers.hpp"

/// What every format's decoder gives for every kind of sample, against the samples that were
/// written.
namespace diacut::testing {
namespace {

TEST(DecodePng, EightAndSixteenBitsWithAndWithoutColourAndAlpha) {
  for (auto [width, height] : kDecodedSizes) {
    for (int type : {CV_8UC1, CV_8UC2, CV_8UC3, CV_8UC4, CV_16UC1, CV_16UC2, CV_16UC3, CV_16UC4}) {
      const cv::Mat samples = samples_with_data(width, height, type);
      const Image expected = expected_image(samples, 0, largest(samples));
      PngFile file = png_file(samples);
      for (bool is_interlaced : {false, true}) {
        SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + " type " +
                     std::to_string(type) + (is_interlaced ? " interlaced" : ""));
        file.is_interlaced = is_interlaced;
        expect_same(decoded_by_type(testing::write_png(file), "a.png"), expected);
      }
    }
  }
}

TEST(DecodePng, PaletteWithTransparentColours) {
  const PngFile file{.width = 4,
                     .height = 1,
                     .bits = 2,
                     .colour_type = PNG_COLOR_TYPE_PALETTE,
                     .rows = {{0b00011011}},
                     .palette = {255, 0, 0, 0, 255, 0, 0, 0, 255, 51, 102, 204},
                     .palette_alpha = {255, 0, 128}};
  const Image image = decoded_by_type(testing::write_png(file), "palette.png");
  EXPECT_EQ(image.channels, 3);
  EXPECT_THAT(image.pixels, ElementsAre(1, 0, 0, 0, 0, 0, 0, 0, 1, 0.2f, 0.4f, 0.8f));
  EXPECT_THAT(image.valid, ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(image.notes, ElementsAre(HasSubstr("1 of 4 pixels are transparent")));
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
      expect_same(decoded_by_type(file, "a"), expected_image(expected, 0, 255));
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

TEST(DecodeOpenCv, BmpAndWebpAsTheyWereStored) {
  struct Case {
    const char* extension;
    int type;
  };
  for (auto [width, height] : kDecodedSizes) {
    for (const auto& [extension, type] : {Case{".bmp", CV_8UC1}, Case{".bmp", CV_8UC3},
                                          Case{".webp", CV_8UC3}, Case{".webp", CV_8UC4}}) {
      cv::Mat samples = samples_with_data(width, height, type);
      const FileBytes file =
          testing::encode(extension, samples, {cv::IMWRITE_WEBP_QUALITY, 101});  // Without loss.
      if (type == CV_8UC3) cv::cvtColor(samples, samples, cv::COLOR_BGR2RGB);
      if (type == CV_8UC4) cv::cvtColor(samples, samples, cv::COLOR_BGRA2RGBA);
      expect_same(decoded_by_type(file, "a"), expected_image(samples, 0, 255));
    }
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
