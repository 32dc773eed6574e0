#include "image/colour.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "camera_files.hpp"
#include "diacut/image_file.hpp"
#include "drawn_image.hpp"

/// Colours are brought from a file's profile to sRGB.
namespace diacut {
namespace {

using Triple = std::array<double, 3>;

/// sRGB to CIE Lab by the definitions (IEC 61966-2-1; CIE 15), in double.
Triple reference_lab(const Triple& srgb) {
  Triple linear{};
  for (std::size_t k = 0; k < 3; ++k) {
    linear[k] = srgb[k] <= 0.04045 ? srgb[k] / 12.92 : std::pow((srgb[k] + 0.055) / 1.055, 2.4);
  }
  const auto [r, g, b] = linear;
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116.0; };
  const double x = f((0.412453 * r + 0.357580 * g + 0.180423 * b) / 0.950456);
  const double y = f(0.212671 * r + 0.715160 * g + 0.072169 * b);
  const double z = f((0.019334 * r + 0.119193 * g + 0.950227 * b) / 1.088754);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

constexpr double kTolerance = 0.002;

TEST(LabPlanes, FollowTheDefinitionInPlanarOrder) {
  for (auto [width, height] : {std::pair{1, 1}, {1, 7}, {5, 1}, {2, 2}, {37, 23}}) {
    for (const std::size_t channels : {std::size_t{1}, std::size_t{3}}) {  // Of grey L alone.
      const Image image = testing::noise_image(width, height, static_cast<int>(channels), 7);
      const std::vector<float> planes = lab_planes(image);
      const std::size_t count = image.pixel_count();
      ASSERT_EQ(planes.size(), channels * count);
      for (std::size_t i = 0; i < count; ++i) {
        const float* pixel = &image.pixels[channels * i];
        const Triple expected = reference_lab({pixel[0], pixel[channels / 2], pixel[channels - 1]});
        for (std::size_t k = 0; k < channels; ++k) {
          EXPECT_NEAR(planes[k * count + i], expected[k], kTolerance) << "pixel " << i;
        }
      }
    }
  }
}

TEST(LabBytes, AreTheRoundedPlanesOfValuesInEightBits) {
  for (int channels : {1, 3}) {
    Image image = testing::noise_image(41, 19, channels, 7);
    image.pixels.front() = 0;
    image.pixels.back() = 1;
    const std::vector<std::uint8_t> bytes = lab_bytes(image);
    ASSERT_EQ(bytes.size(), image.pixels.size());
    const auto step = static_cast<std::size_t>(channels);
    for (std::size_t i = 0; i < bytes.size(); i += step) {
      Triple srgb{};
      for (std::size_t k = 0; k < 3; ++k) {
        srgb[k] = std::round(image.pixels[i + (channels == 1 ? 0 : k)] * 255.0) / 255;
      }
      const Triple lab = reference_lab(srgb);
      EXPECT_NEAR(bytes[i], lab[0] * 2.55, 0.51) << "pixel " << i / step;
      for (std::size_t k = 1; k < step; ++k) {
        EXPECT_NEAR(bytes[i + k], lab[k] + 128, 0.51) << "pixel " << i / step;
      }
    }
  }
}

TEST(LabPlanes, TellApartNeighbouringSixteenBitValues) {
  for (int channels : {1, 3}) {
    Image image{2000, 1, channels, {}, {}, {}};
    for (int x = 0; x < image.width; ++x) {
      for (int k = 0; k < channels; ++k) {
        image.pixels.push_back(static_cast<float>(30000 + x) / 65535.0f);
      }
    }
    const std::vector<float> planes = lab_planes(image);
    for (std::size_t x = 1; x < 2000; ++x) EXPECT_GT(planes[x], planes[x - 1]) << x;
  }
}

TEST(LabPlanes, PixelsWithoutDataAreZeroInEveryPlane) {
  for (int channels : {1, 3}) {
    Image image = testing::noise_image(9, 4, channels, 7);
    const std::vector<float> full = lab_planes(image);
    image.valid.assign(image.pixel_count(), 1);
    image.valid[0] = image.valid[13] = image.valid[35] = 0;
    const std::vector<float> planes = lab_planes(image);
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const bool has_data = image.valid[i % image.pixel_count()] != 0;
      EXPECT_EQ(planes[i], has_data ? full[i] : 0.0f);
    }
  }
}

using ::testing::ElementsAre;
using testing::FileBytes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kImageProfileWidth = 23;
constexpr int kImageProfileHeight = 17;

FileBytes png_with(const cv::Mat& samples, const FileBytes& profile) {
  testing::PngFile file = testing::png_file(samples);
  file.profile = profile;
  return testing::write_png(file);
}

FileBytes tiff_with(const cv::Mat& samples, const FileBytes& profile) {
  testing::TiffPage page = testing::tiff_page(samples);
  page.profile = profile;
  return testing::write_tiff({page});
}

FileBytes webp_with(const cv::Mat& samples, const FileBytes& profile) {
  const FileBytes plain = testing::encode(".webp", samples, {cv::IMWRITE_WEBP_QUALITY, 101});
  return testing::webp_with(plain, samples.cols, samples.rows, {.profile = profile});
}

FileBytes jpeg_with(const cv::Mat& samples, const FileBytes& profile) {
  const FileBytes plain = testing::encode(".jpg", samples);
  return profile.empty() ? plain : testing::jpeg_with_profile(plain, profile);
}

FileBytes heif_with(bool is_avif, const cv::Mat& samples, const FileBytes& profile) {
  return testing::write_heif({.is_avif = is_avif, .profile = profile, .pictures = {samples}});
}

/// Files of all formats that hold profiles, by name.
std::map<std::string, FileBytes> files_with(const cv::Mat& samples, const FileBytes& profile) {
  return {{"a.png", png_with(samples, profile)},
          {"a.tif", tiff_with(samples, profile)},
          {"a.webp", webp_with(samples, profile)},
          {"a.jp2", testing::write_jpeg2000({.samples = samples, .profile = profile})},
          {"a.jpg", jpeg_with(samples, profile)},
          {"a.heic", heif_with(false, samples, profile)},
          {"a.avif", heif_with(true, samples, profile)}};
}

/// The sRGB encoding of light (IEC 61966-2-1).
double encoded(double light) {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

/// Adobe RGB (1998) to sRGB: both have the same white, red and blue.
std::array<double, 3> srgb_of_adobe(const std::array<double, 3>& stored) {
  std::array<double, 3> light{};
  for (std::size_t k = 0; k < 3; ++k) light[k] = std::pow(stored[k], 563.0 / 256);
  const std::array<double, 3> linear = {1.39836 * light[0] - 0.39836 * light[1], light[1],
                                        -0.04293 * light[1] + 1.04293 * light[2]};
  std::array<double, 3> shown{};
  for (std::size_t k = 0; k < 3; ++k) shown[k] = encoded(std::clamp(linear[k], 0.0, 1.0));
  return shown;
}

/// `bound`: of the difference between a value that was read and its exact one.
void expect_adobe(const Image& image, const cv::Mat& samples, double full, double bound) {
  cv::Mat numbers;
  samples.convertTo(numbers, CV_64F, 1 / full);
  double farthest = 0;
  for (int i = 0; i < samples.cols * samples.rows; ++i) {
    const double* pixel = numbers.ptr<double>(0) + 3 * i;
    const std::array<double, 3> expected = srgb_of_adobe({pixel[0], pixel[1], pixel[2]});
    for (std::size_t k = 0; k < 3; ++k) {
      const auto at = static_cast<std::size_t>(3 * i) + k;
      farthest = std::max(farthest, std::abs(image.pixels[at] - expected[k]));
    }
  }
  EXPECT_LE(farthest, bound);
}

TEST(ColourProfile, AnAdobeRgbPhotographIsReadAsWhatItShows) {
  const FileBytes profile = testing::adobe_rgb_profile();
  const cv::Mat samples = testing::random_samples(kImageProfileWidth, kImageProfileHeight, CV_8UC3);
  // Half a step of rounding, and half a step of the profile's own numbers and of tables.
  expect_adobe(decode_image(png_with(samples, profile), "a.png"), samples, 255, 1.0 / 255);
  const cv::Mat deep = testing::random_samples(kImageProfileWidth, kImageProfileHeight, CV_16UC3);
  for (const FileBytes& file : {png_with(deep, profile), tiff_with(deep, profile),
                                testing::write_jxl({.profile = profile, .frames = {deep}})}) {
    expect_adobe(decode_image(file, "deep"), deep, 65535, 1.0 / 255);
  }
}

TEST(ColourProfile, IsAppliedInEveryFormatUnlessItIsOfSrgbOrGarbage) {
  const cv::Mat samples = testing::random_samples(kImageProfileWidth, kImageProfileHeight, CV_8UC3);
  const std::map<std::string, FileBytes> plain_files = files_with(samples, {});
  const auto expect_read = [&](const FileBytes& profile, bool applies, const auto& notes) {
    for (const auto& [name, file] : files_with(samples, profile)) {
      SCOPED_TRACE(name);
      const Image plain = decode_image(plain_files.at(name), name);
      const Image image = decode_image(file, name);
      EXPECT_THAT(image.notes, notes);
      EXPECT_EQ(image.pixels != plain.pixels, applies);
      if (!applies) continue;
      cv::Mat stored;  // What a PNG would store of it.
      cv::Mat(plain.pixels, true).reshape(3, plain.height).convertTo(stored, CV_8U, 255);
      EXPECT_EQ(image.pixels, decode_image(png_with(stored, profile), "a.png").pixels);
    }
  };
  expect_read(testing::srgb_profile(), false, IsEmpty());
  expect_read(testing::adobe_rgb_profile(), true, IsEmpty());
  FileBytes noise(500);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<std::uint8_t>(i * 77);
  FileBytes cut = testing::adobe_rgb_profile();
  cut.resize(150);
  FileBytes no_curves = testing::adobe_rgb_profile();
  std::fill(no_curves.begin() + 132, no_curves.end(), std::uint8_t{0xee});
  for (const FileBytes& profile : {noise, cut, no_curves}) {
    expect_read(profile, false, ElementsAre(HasSubstr("colour profile is damaged")));
  }
}

TEST(ColourProfile, GreyProfilesAndProfilesOfRgbOnGreysApply) {
  const cv::Mat samples = testing::random_samples(kImageProfileWidth, kImageProfileHeight, CV_8UC1);
  const FileBytes linear = testing::grey_profile(1);
  const FileBytes linear_rgb = testing::rgb_profile({0.64, 0.33, 0.3, 0.6, 0.15, 0.06}, 1);
  for (const FileBytes& file :
       {png_with(samples, linear), tiff_with(samples, linear), tiff_with(samples, linear_rgb)}) {
    const Image image = decode_image(file, "a");
    EXPECT_THAT(image.notes, IsEmpty());
    ASSERT_EQ(image.channels, 1);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      ASSERT_NEAR(image.pixels[i], encoded(samples.data[i] / 255.0), 1.0 / 255) << i;
    }
  }
}

TEST(ColourProfile, AlphaStays) {
  cv::Mat samples = testing::random_samples(kImageProfileWidth, kImageProfileHeight, CV_8UC4);
  const Image plain = decode_image(png_with(samples, {}), "a.png");
  const Image shown = decode_image(png_with(samples, testing::adobe_rgb_profile()), "a.png");
  EXPECT_EQ(shown.valid, plain.valid);
  EXPECT_NE(shown.pixels, plain.pixels);
}

TEST(ColourProfile, ThatIsForOtherColoursIsNoted) {
  const cv::Mat samples = testing::random_samples(kImageProfileWidth, kImageProfileHeight, CV_8UC3);
  const Image image = decode_image(tiff_with(samples, testing::grey_profile(2.2)), "a.tif");
  EXPECT_THAT(image.notes, ElementsAre(HasSubstr("is one for grey, and these are RGB")));
  const cv::Mat light = testing::random_samples(kImageProfileWidth, kImageProfileHeight, CV_32FC3);
  EXPECT_THAT(decode_image(tiff_with(light, testing::adobe_rgb_profile()), "a.tif").notes,
              ElementsAre(HasSubstr("values of 8 and 16 bits")));
}

TEST(ColourProfile, CodePointsOfHeifThatAreNotThoseOfSrgbAreNoted) {
  enum CodePoint { kBt709 = 1, kDisplayP3 = 12, kSrgbCurve = 13, kPq = 16 };
  const cv::Mat samples(kImageProfileHeight, kImageProfileWidth, CV_8UC3, cv::Scalar(200, 100, 50));
  const auto read = [&](int primaries, int transfer) {
    return decode_image(
        testing::write_heif(
            {.is_avif = true, .primaries = primaries, .transfer = transfer, .pictures = {samples}}),
        "a.avif");
  };
  const Image plain = read(kBt709, kSrgbCurve);
  EXPECT_NEAR(plain.pixels[0], 200 / 255.0, 2.01 / 255);
  EXPECT_THAT(plain.notes, IsEmpty());
  const Image wide = read(kDisplayP3, kSrgbCurve);
  EXPECT_EQ(wide.pixels, plain.pixels);
  EXPECT_THAT(wide.notes, ElementsAre(HasSubstr("primaries 12")));
  EXPECT_THAT(read(9, kPq).notes, ElementsAre(HasSubstr("transfer 16")));
}

}  // namespace
}  // namespace diacut
