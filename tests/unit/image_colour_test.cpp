#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "image/colour.hpp"

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

Image random_image(int width, int height, int channels) {
  Image image;
  image.width = width;
  image.height = height;
  image.channels = channels;
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> value(0.0f, 1.0f);
  image.pixels.resize(image.pixel_count() * static_cast<std::size_t>(channels));
  for (float& pixel : image.pixels) pixel = value(generator);
  return image;
}

constexpr double kTolerance = 0.002;

TEST(LabPlanes, FollowTheDefinitionInPlanarOrder) {
  for (auto [width, height] : {std::pair{1, 1}, {1, 7}, {5, 1}, {2, 2}, {37, 23}}) {
    const Image image = random_image(width, height, 3);
    const std::vector<float> planes = lab_planes(image);
    const std::size_t count = image.pixel_count();
    ASSERT_EQ(planes.size(), 3 * count);
    for (std::size_t i = 0; i < count; ++i) {
      const Triple expected =
          reference_lab({image.pixels[3 * i], image.pixels[3 * i + 1], image.pixels[3 * i + 2]});
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(planes[k * count + i], expected[k], kTolerance) << "pixel " << i;
      }
    }
  }
}

TEST(LabPlanes, GreyIsLightnessAlone) {
  const Image image = random_image(31, 17, 1);
  const std::vector<float> planes = lab_planes(image);
  ASSERT_EQ(planes.size(), image.pixel_count());
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const double v = image.pixels[i];
    EXPECT_NEAR(planes[i], reference_lab({v, v, v})[0], kTolerance);
  }
}

TEST(LabBytes, AreTheRoundedPlanesOfValuesInEightBits) {
  for (int channels : {1, 3}) {
    Image image = random_image(41, 19, channels);
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

TEST(LabPlanes, KnownColours) {
  Image image;
  image.width = 5;
  image.height = 1;
  image.channels = 3;
  image.pixels = {0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<float> planes = lab_planes(image);
  const std::array<Triple, 5> expected = {Triple{0, 0, 0},
                                          {100, 0, 0},
                                          {53.24, 80.09, 67.20},
                                          {87.73, -86.18, 83.18},
                                          {32.30, 79.19, -107.86}};
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(planes[k * 5 + i], expected[i][k], 0.1);
  }
}

TEST(LabPlanes, TellApartNeighbouringSixteenBitValues) {
  for (int channels : {1, 3}) {
    Image image;
    image.width = 2000;
    image.height = 1;
    image.channels = channels;
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
    Image image = random_image(9, 4, channels);
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

}  // namespace
}  // namespace diacut
