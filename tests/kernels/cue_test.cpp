#include "cues/cue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "cues/gradient.hpp"
#include "support.hpp"

namespace diacut {
namespace {

Image grey_image(int width, int height, float value = 0.0f) {
  Image image;
  image.width = width;
  image.height = height;
  image.channels = 1;
  image.pixels.assign(image.pixel_count(), value);
  return image;
}

// Noise over patches of flat colour: edges of every strength and direction.
Image random_image(int width, int height, int channels, unsigned seed) {
  Image image = grey_image(width, height);
  image.channels = channels;
  image.pixels.resize(image.pixel_count() * channels);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<float> patches(64 * channels);
  for (float& patch : patches) patch = uniform(random);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int patch = (x / 9 + 5 * ((y + x / 3) / 11)) % 64;
      for (int c = 0; c < channels; ++c) {
        image.pixels[(static_cast<std::size_t>(y) * width + x) * channels + c] =
            0.8f * patches[patch * channels + c] + 0.2f * uniform(random);
      }
    }
  }
  return image;
}

void mask_out(Image& image, std::size_t pixel) {
  if (image.valid.empty()) image.valid.assign(image.pixel_count(), 1);
  image.valid[pixel] = 0;
  for (int c = 0; c < image.channels; ++c) image.pixels[pixel * image.channels + c] = 0.0f;
}

Grid grid_of(const Image& image, int padding = 0) {
  return {image.width, image.height, image.width + padding};
}

class Cue : public ::testing::Test {
 protected:
  void expect_matches_reference(const Image& image, const CueParameters& parameters,
                                int padding = 0) {
    SCOPED_TRACE(::testing::Message()
                 << image.width << "x" << image.height << "x" << image.channels << " padding "
                 << padding << " sigma " << parameters.sigma << " thin " << parameters.thin);
    const Grid grid = grid_of(image, padding);
    const BoundaryMap map = boundary_strength(context_, image, grid, parameters);
    EXPECT_EQ(map.grid, grid);
    const std::vector<float> strength = map.strength.download();
    const std::vector<std::uint8_t> valid = map.valid.download();
    ASSERT_EQ(strength.size(), grid.rows());
    ASSERT_EQ(valid.size(), grid.rows());
    const std::vector<double> expected = reference_gradient(image, parameters);
    // A derivative sums 2 (radius + 1) terms and a few more roundings make it a strength;
    // differences are of the size of the strongest gradients, whose strength is about 1.
    // Suppression multiplies an error by at most 1 / softness, once for each of the two magnitudes
    // that it compares.
    const double roundings = 2 * gradient_weights(parameters.sigma).radius() + 10;
    const double tolerance = roundings * std::numeric_limits<float>::epsilon() *
                             (parameters.thin ? 2 / kRidgeSoftness : 1);
    std::size_t wrong = 0;
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.stride; ++x) {
        const std::size_t element = static_cast<std::size_t>(y) * grid.stride + x;
        const std::size_t pixel = static_cast<std::size_t>(y) * grid.width + x;
        const bool has_data = x < grid.width && (image.valid.empty() || image.valid[pixel] != 0);
        ASSERT_EQ(valid[element], has_data ? 1 : 0);
        if (!has_data) {
          ASSERT_EQ(strength[element], 0.0f);
          continue;
        }
        if (!(std::abs(strength[element] - expected[pixel]) <= tolerance) && ++wrong <= 3) {
          ADD_FAILURE() << "pixel " << x << ", " << y << ": " << strength[element] << ", expected "
                        << expected[pixel] << ", allowed " << tolerance;
        }
      }
    }
    EXPECT_EQ(wrong, 0u);
  }

  Context context_{testing::test_device()};
};

TEST_F(Cue, MatchesTheReference) {
  const int sizes[][2] = {{1, 1}, {1, 2},  {2, 1},   {2, 2},   {1, 31}, {31, 1},
                          {5, 7}, {63, 4}, {64, 17}, {65, 33}, {97, 61}};
  unsigned seed = 0;
  for (const auto& [width, height] : sizes) {
    for (const int channels : {1, 3}) {
      for (const bool thin : {false, true}) {
        for (const double sigma : {0.5, 1.0, 2.3}) {
          CueParameters parameters;
          parameters.sigma = sigma;
          parameters.thin = thin;
          ++seed;
          expect_matches_reference(random_image(width, height, channels, seed), parameters,
                                   static_cast<int>(seed % 3));
        }
      }
    }
  }
}

TEST_F(Cue, MasksMatchTheReference) {
  Image image = random_image(67, 41, 3, 5);
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) mask_out(image, random() % image.pixel_count());
  for (std::size_t i = 0; i < 67 * 15; ++i) mask_out(image, i);
  for (const bool thin : {false, true}) {
    CueParameters parameters;
    parameters.thin = thin;
    expect_matches_reference(image, parameters, 2);
  }
}

}  // namespace
}  // namespace diacut
