#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "camera_files.hpp"
#include "decoded_image.hpp"
#include "diacut/image_file.hpp"
#include "matchers.hpp"

/// Pictures in the formats of cameras and phones are read as they were stored.
namespace diacut {
namespace {

using ::testing::Contains;
using testing::FileBytes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kWidth = 37;
constexpr int kHeight = 26;

/// What is read of `file` is `samples`, of which `full` is 1, to within `steps` of these.
void expect_read(const FileBytes& file, const cv::Mat& samples, double full, int steps = 0) {
  const Image image = decode_image(file, "a");
  testing::expect_well_formed(image);
  EXPECT_EQ(image.notes.empty(), image.valid.empty());
  testing::expect_same(image, testing::expected_image(samples, full),
                       steps > 0 ? (steps + 0.5) / full : 0);
}

cv::Mat random(int type) { return testing::random_samples(kWidth, kHeight, type); }

/// Random samples of some bits, in 16.
cv::Mat random_bits(int bits, int channels) {
  cv::Mat samples;
  random(CV_32FC(channels)).convertTo(samples, CV_16U, (1 << bits) - 1);
  return samples;
}

/// Each two by two pixels get the colour of their first.
cv::Mat in_blocks(cv::Mat samples) {
  const auto pixel = samples.elemSize();
  for (int y = 0; y < samples.rows; ++y) {
    for (int x = 0; x < samples.cols; ++x) {
      std::copy_n(samples.ptr(y / 2 * 2, x / 2 * 2), pixel, samples.ptr(y, x));
    }
  }
  return samples;
}

TEST(CameraFormats, HeicAndAvifAreReadAsStored) {
  for (const bool is_avif : {false, true}) {
    SCOPED_TRACE(is_avif ? "AVIF" : "HEIC");
    const cv::Mat samples = in_blocks(random(CV_8UC3));
    expect_read(testing::write_heif({.is_avif = is_avif, .pictures = {samples}}), samples, 255, 2);
    const int bits = is_avif ? 12 : 10;
    const cv::Mat deep = in_blocks(random_bits(bits, 3));
    expect_read(testing::write_heif({.is_avif = is_avif, .bits = bits, .pictures = {deep}}), deep,
                (1 << bits) - 1, 2);
  }
}

TEST(CameraFormats, AlphaOfHeicAndJpegXlHidesPixels) {
  cv::Mat samples = in_blocks(random(CV_8UC4));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) samples.at<cv::Vec4b>(y, x)[3] = x < 9 ? 0 : 255;
  }
  for (const FileBytes& file :
       {testing::write_heif({.pictures = {samples}}),
        testing::write_heif({.is_avif = true, .pictures = {samples}}),
        testing::write_jxl({.frames = {samples}}), testing::write_jpeg2000({.samples = samples})}) {
    expect_read(file, samples, 255, 2);
  }
}

TEST(CameraFormats, FloatsOfJpegXlAreReadAsStored) {
  const cv::Mat samples = random(CV_32FC3);
  expect_read(testing::write_jxl({.frames = {samples}}), samples, 1);
}

TEST(CameraFormats, LossyJpegXlIsNearWhatWasStored) {
  const cv::Mat samples(kHeight, kWidth, CV_8UC3, cv::Scalar(200, 90, 30));
  const Image image =
      decode_image(testing::write_jxl({.is_lossy = true, .frames = {samples}}), "a");
  // The encoder aims at a difference that nobody sees; single pixels may be further off.
  const cv::Scalar mean = cv::mean(cv::Mat(image.pixels, false).reshape(3));
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(mean[k] * 255, samples.at<cv::Vec3b>(0, 0)[k], 3);
}

TEST(CameraFormats, TwelveBitsOfJpeg2000AreReadAsStored) {
  const cv::Mat deep = random_bits(12, 3);
  for (const bool is_bare : {false, true}) {
    expect_read(testing::write_jpeg2000({.samples = deep, .bits = 12, .is_bare = is_bare}), deep,
                4095);
  }
}

/// small_chroma.jp2 has luma, and chroma of half the size, of these samples; OpenJPEG made it.
TEST(CameraFormats, LumaAndChromasOfJpeg2000BecomeColours) {
  const cv::Mat samples = in_blocks(testing::random_samples(7, 5, CV_8UC3));
  const FileBytes file = testing::stored_file("small_chroma.jp2");
  expect_read(file, samples, 255, 2);
  // A file without a container tells it by chromas of half the size only.
  constexpr std::ptrdiff_t kContainer = 85;
  expect_read({file.begin() + kContainer, file.end()}, samples, 255, 2);
}

FileBytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(CameraFormats, PnmOfEveryKind) {
  using std::string_literals::operator""s;
  struct Case {
    std::string file;
    int channels;
    std::vector<float> values;
  };
  const std::vector<Case> cases = {
      {"P1\n3 2\n010\n1 1 0\n", 1, {1, 0, 1, 0, 0, 1}},
      {"P4\n3 2\n\x40\xc0"s, 1, {1, 0, 1, 0, 0, 1}},
      {"P2\n# a comment\n3 2 255\n0 51 102\n153 204 255\n", 1, {0, 0.2F, 0.4F, 0.6F, 0.8F, 1}},
      {"P5\n2 1\n255\n\x00\xff"s, 1, {0, 1}},
      {"P5\n2 1\n100\n\x19\x32"s, 1, {0.25F, 0.5F}},
      {"P5\n2 1\n4000\n\x03\xe8\x0f\xa0"s, 1, {0.25F, 1}},
      {"P3\n1 1\n4\n1 2 4\n", 3, {0.25F, 0.5F, 1}},
      {"P6\n1 1\n255\n\xff\x00\xff"s, 3, {1, 0, 1}},
      {"P7\nWIDTH 1\nHEIGHT 2\nDEPTH 1\nMAXVAL 4\nTUPLTYPE GRAYSCALE\nENDHDR\n\x01\x04"s,
       1,
       {0.25F, 1}},
      {"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
       "\xff\x00\xff\xff\xff\xff\xff\x00"s,
       3,
       {1, 0, 1, 0, 0, 0}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.file);
    const Image image = testing::decoded_by_type(bytes_of(each.file), "a.pnm");
    EXPECT_EQ(image.channels, each.channels);
    EXPECT_EQ(image.pixels, each.values);
  }
}

TEST(CameraFormats, GifIsReadAsStored) {
  for (const char* name : {"plain.gif", "interlaced.gif"}) {
    SCOPED_TRACE(name);
    const Image image = decode_image(testing::stored_file(name), name);
    ASSERT_EQ(image.width, 41);
    ASSERT_EQ(image.height, 29);
    for (int i = 0; i < 41 * 29; ++i) {
      const int index = (i % 41 * 7 + i / 41 * 3) % 4;
      ASSERT_EQ(image.valid[static_cast<std::size_t>(i)], index == 2 ? 0 : 1) << i;
      ASSERT_EQ(image.pixels[static_cast<std::size_t>(3 * i)], index % 2) << i;
      ASSERT_EQ(image.pixels[static_cast<std::size_t>(3 * i + 1)], index == 3 ? 1 : 0) << i;
    }
  }
}

TEST(CameraFormats, FramesOfAGifAreDrawnOverEachOther) {
  const FileBytes file = testing::stored_file("frames.gif");
  const auto greens = [&](int page) {
    const Image image = decode_image(file, "a.gif", {}, {.page = page});
    std::string seen;
    for (std::size_t i = 0; i < 4; ++i) {
      const bool hidden = !image.valid.empty() && image.valid[i] == 0;
      seen += hidden ? '-' : image.pixels[3 * i + 1] > 0 ? '1' : '0';
    }
    return seen;
  };
  EXPECT_EQ(greens(1), "1111");
  EXPECT_EQ(greens(2), "0111");
  EXPECT_EQ(greens(3), "1011");
  EXPECT_EQ(greens(4), "1-01");
  EXPECT_THAT(decode_image(file, "a.gif").notes, Contains(HasSubstr("4 pages")));
  EXPECT_THAT(decode_image(file, "a.gif", {}, {.page = 1}).notes,
              Not(Contains(HasSubstr("pages"))));
}

TEST(CameraFormats, APageThatDoesNotExistIsRefused) {
  const cv::Mat samples = random(CV_8UC3);
  const cv::Mat other = testing::random_samples(kWidth, kHeight, CV_8UC3, 2);
  const std::vector<std::pair<FileBytes, int>> files = {
      {testing::write_heif({.pictures = {samples, other}}), 2},
      {testing::write_jxl({.frames = {samples, other}}), 2},
      {bytes_of("P2 1 1 9 3 P2 1 1 9 4\n"), 2},
      {testing::write_jpeg2000({.samples = samples}), 1},
      {testing::encode(".png", samples), 1},
  };
  for (const auto& [file, pages] : files) {
    const std::vector<std::string> notes = decode_image(file, "a").notes;
    const Image first = decode_image(file, "a", {}, {.page = 1});
    const Image last = decode_image(file, "a", {}, {.page = pages});
    EXPECT_EQ(first.pixels != last.pixels, pages > 1);
    const int missing = pages + 1;
    EXPECT_THAT(testing::message_of<InputError>(
                    [&, &whole = file] { decode_image(whole, "a", {}, {.page = missing}); }),
                HasSubstr("there is no page " + std::to_string(missing)));
    EXPECT_EQ(std::any_of(notes.begin(), notes.end(),
                          [](const std::string& note) { return note.find("pages") != note.npos; }),
              pages > 1);
  }
}

TEST(CameraFormats, ARawFileIsDeveloped) {
  // Left half dark red, right half bright grey, in linear light.
  cv::Mat light(64, 96, CV_16UC3, cv::Scalar(40000, 40000, 40000));
  light(cv::Rect(0, 0, 48, 64)).setTo(cv::Scalar(8000, 2000, 2000));
  for (const int orientation : {1, 6}) {
    const Image image = decode_image(testing::write_dng(light, orientation), "a.dng");
    testing::expect_well_formed(image);
    ASSERT_EQ(image.width, orientation == 1 ? 96 : 64);
    ASSERT_EQ(image.height, orientation == 1 ? 64 : 96);
    ASSERT_EQ(image.channels, 3);
    const auto pixel = [&](int x, int y) {
      return image.pixels.data() + 3 * (y * image.width + x);
    };
    // Stored left is left, or on top where the picture is turned to the right.
    const float* red = pixel(orientation == 1 ? 20 : 32, orientation == 1 ? 32 : 20);
    const float* grey = pixel(orientation == 1 ? 76 : 32, orientation == 1 ? 32 : 76);
    EXPECT_GT(red[0], 1.5F * red[1]);
    EXPECT_NEAR(red[1], red[2], 0.02);
    EXPECT_GT(grey[1], 2 * red[1]);
    EXPECT_NEAR(grey[0], grey[1], 0.02);
    EXPECT_NEAR(grey[2], grey[1], 0.02);
  }
}

}  // namespace
}  // namespace diacut
