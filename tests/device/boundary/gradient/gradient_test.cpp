#include "boundary/gradient/gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

#include "affinity/line.hpp"
#include "boundary/boundary.hpp"
#include "boundary/gradient/image_gradient.hpp"
#include "boundary/gradient/quantile.hpp"
#include "boundary/gradient/strength.hpp"
#include "boundary/gradient/thin.hpp"
#include "guarded.hpp"
#include "image/colour.hpp"
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

CueParameters gradient_cue() {
  CueParameters parameters;
  parameters.kind = CueKind::kGradient;
  return parameters;
}

class Cue : public ::testing::Test {
 protected:
  std::vector<float> strength(const Image& image, const CueParameters& parameters) {
    return boundary_strength(context_, image, grid_of(image), parameters).strength.download();
  }

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
          CueParameters parameters = gradient_cue();
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
    CueParameters parameters = gradient_cue();
    parameters.thin = thin;
    expect_matches_reference(image, parameters, 2);
  }
}

// Small enough for a simulated device that watches every access.
class TinyCue : public Cue {};

TEST_F(TinyCue, MatchesTheReference) {
  Image image = random_image(7, 5, 3, 51);
  mask_out(image, 9);
  mask_out(image, 34);
  for (const bool thin : {false, true}) {
    CueParameters parameters = gradient_cue();
    parameters.thin = thin;
    expect_matches_reference(image, parameters, 2);
    expect_matches_reference(random_image(2, 3, 1, 52), parameters);
  }
}

// The least of the largest strengths on the lines of a stencil whose ends lie at least `margin`
// pixels to either side of a boundary; distance(x, y) is signed. Away from the image's border.
template <class Distance>
float weakest_crossing(const std::vector<float>& strength, int size, int radius, double margin,
                       Distance&& distance) {
  const int border = 8;
  float weakest = std::numeric_limits<float>::infinity();
  const Stencil stencil = disc_stencil(radius);
  for (std::size_t k = stencil.centre() + 1; k < stencil.size(); ++k) {
    const auto [dx, dy] = stencil.entries[k];
    const std::vector<StencilOffset> line = bresenham(stencil.entries[k]);
    for (int y = border; y < size - border; ++y) {
      for (int x = border; x < size - border; ++x) {
        const bool inside = x + dx >= border && x + dx < size - border && y + dy < size - border;
        if (!inside) continue;
        const double from = distance(x, y);
        const double to = distance(x + dx, y + dy);
        if (std::min(from, to) > -margin || std::max(from, to) < margin) continue;
        float ic = strength[static_cast<std::size_t>(y) * size + x];
        for (const StencilOffset& at : line) {
          ic = std::max(ic, strength[static_cast<std::size_t>(y + at.dy) * size + x + at.dx]);
        }
        weakest = std::min(weakest, ic);
      }
    }
  }
  return weakest;
}

template <class Distance>
Image step_image(int size, bool smooth, Distance&& distance) {
  Image image = grey_image(size, size);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const double d = distance(x, y);
      const double share = smooth ? std::clamp(d + 0.5, 0.0, 1.0) : (d > 0 ? 1.0 : 0.0);
      image.pixels[static_cast<std::size_t>(y) * size + x] = static_cast<float>(0.3 + 0.4 * share);
    }
  }
  return image;
}

TEST_F(Cue, NoLineSlipsThroughAnEdge) {
  constexpr int kSize = 48;
  constexpr double kCentre = kSize / 2.0;
  const auto expect_tight = [&](auto&& distance) {
    for (const double sigma : {0.7, 1.0, 2.0}) {
      for (const bool smooth : {false, true}) {
        CueParameters parameters = gradient_cue();
        parameters.sigma = sigma;
        const std::vector<float> map = strength(step_image(kSize, smooth, distance), parameters);
        // Closed by ridges as they are, without cue_bridge, the weakest is 0.
        EXPECT_GT(weakest_crossing(map, kSize, 5, 1.5, distance), 0.85)
            << "sigma " << sigma << " smooth " << smooth;
      }
    }
  };
  for (int degrees = 0; degrees < 180; degrees += 15) {
    for (const double shift : {0.0, 0.3, 0.5}) {
      SCOPED_TRACE(::testing::Message() << degrees << " degrees, shift " << shift);
      const double angle = degrees * std::acos(-1.0) / 180;
      expect_tight([&](int x, int y) {
        return std::cos(angle) * (x - kCentre) + std::sin(angle) * (y - kCentre) - shift;
      });
    }
  }
  for (const double radius : {5.0, 8.3, 12.0}) {
    SCOPED_TRACE(::testing::Message() << "a disc of radius " << radius);
    expect_tight([&](int x, int y) { return std::hypot(x - kCentre + 0.2, y - kCentre) - radius; });
  }
}

// Thin is worth it only if it thins: beyond two pixels of a step nothing is left, and the ridge is
// as strong as the gradient.
TEST_F(Cue, ThinKeepsTheRidgeAlone) {
  constexpr int kSize = 48;
  for (const int degrees : {0, 20, 45, 70, 90, 135, 160}) {
    const double angle = degrees * std::acos(-1.0) / 180;
    const auto distance = [&](int x, int y) {
      return std::cos(angle) * (x - kSize / 2) + std::sin(angle) * (y - kSize / 2) - 0.3;
    };
    CueParameters parameters = gradient_cue();
    const Image image = step_image(kSize, true, distance);
    const std::vector<float> thin = strength(image, parameters);
    parameters.thin = false;
    const std::vector<float> whole = strength(image, parameters);
    double thin_sum = 0;
    double whole_sum = 0;
    for (int y = 8; y < kSize - 8; ++y) {
      for (int x = 8; x < kSize - 8; ++x) {
        const std::size_t pixel = static_cast<std::size_t>(y) * kSize + x;
        if (std::abs(distance(x, y)) > 1.5) {
          EXPECT_EQ(thin[pixel], 0.0f) << x << ", " << y;
        }
        EXPECT_LE(thin[pixel], 1.0f);
        thin_sum += thin[pixel];
        whole_sum += whole[pixel];
      }
    }
    EXPECT_LT(thin_sum, 0.6 * whole_sum);
    EXPECT_GT(thin_sum, 0.2 * whole_sum);
  }
}

TEST_F(Cue, StrengthIsTheShareOfTheFloor) {
  // A step of known height in L between two columns: the pixels beside it see it in every term of
  // the derivative.
  Image image = grey_image(24, 9, 0.2f);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    if (i % 24 >= 12) image.pixels[i] = 0.25f;
  }
  const std::vector<float> planes = lab_planes(image);
  const double height = planes[12] - planes[11];
  ASSERT_GT(height, 1.0);
  for (const double sigma : {0.6, 1.0, 1.8}) {
    CueParameters parameters = gradient_cue();
    parameters.sigma = sigma;
    parameters.floor = 50;
    const GradientWeights weights = gradient_weights(sigma);
    const double slope =
        height * std::accumulate(weights.derivative.begin(), weights.derivative.end(), 0.0);
    const std::vector<float> map = strength(image, parameters);
    for (const std::size_t column : {11, 12}) {
      EXPECT_NEAR(map[4 * 24 + column], slope / 50, 1e-5 * slope / 50);
    }
    for (const std::size_t column : {0, 9, 14, 23}) EXPECT_EQ(map[4 * 24 + column], 0.0f);
  }
}

TEST_F(Cue, FlatImagesHaveNoBoundary) {
  for (const int channels : {1, 3}) {
    for (const float value : {0.0f, 0.37f, 1.0f}) {
      Image image = grey_image(45, 31, value);
      image.channels = channels;
      image.pixels.assign(image.pixel_count() * channels, value);
      for (const bool holes : {false, true}) {
        if (holes) {
          for (std::size_t i = 0; i < 190; ++i) mask_out(image, i * 7 + i / 9);
        }
        // The planes of a flat colour may differ in their last bits, as its conversion to Lab does
        // four pixels at a time and then one: some 1e-5 of the floor.
        for (const float s : strength(image, gradient_cue()))
          ASSERT_LE(s, channels == 1 ? 0.0f : 1e-5f);
      }
    }
  }
}

TEST_F(Cue, AMaskMakesNoEdge) {
  // One step, and masks across it, beside it, and of single pixels.
  Image image = grey_image(60, 40, 0.2f);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    if (i % 60 >= 30) image.pixels[i] = 0.8f;
  }
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 60; ++x) {
      const bool across = y > 25 && y < 33 && x > 20 && x < 45;
      const bool beside = x < 12 || (x == 25 && y < 20);
      if (across || beside || (x * 7 + y * 3) % 31 == 0) {
        mask_out(image, static_cast<std::size_t>(y) * 60 + x);
      }
    }
  }
  for (const bool thin : {true, false}) {
    CueParameters parameters = gradient_cue();
    parameters.thin = thin;
    const std::vector<float> map = strength(image, parameters);
    for (std::size_t pixel = 0; pixel < map.size(); ++pixel) {
      const std::size_t x = pixel % 60;
      if (image.valid[pixel] == 0 || x < 25 || x > 34) {
        ASSERT_EQ(map[pixel], 0.0f) << x << ", " << pixel / 60;
      } else if ((x == 29 || x == 30) && pixel / 60 < 20) {
        ASSERT_GT(map[pixel], 0.5f) << x << ", " << pixel / 60;
      }
    }
  }
}

TEST_F(Cue, LittleOrNoDataGivesNoBoundary) {
  Image image = random_image(19, 13, 3, 8);
  for (std::size_t i = 0; i < image.pixel_count(); ++i) {
    if (i != 100) mask_out(image, i);
  }
  for (const float s : strength(image, gradient_cue())) ASSERT_EQ(s, 0.0f);
  mask_out(image, 100);
  const BoundaryMap map = boundary_strength(context_, image, grid_of(image, 3), gradient_cue());
  for (const float s : map.strength.download()) ASSERT_EQ(s, 0.0f);
  for (const std::uint8_t v : map.valid.download()) ASSERT_EQ(v, 0);
}

TEST_F(Cue, TheFloorKeepsNoiseSmall) {
  Image image = grey_image(80, 60);
  std::mt19937 random(4);
  std::normal_distribution<float> normal(0.5f, 0.002f);
  for (float& pixel : image.pixels) pixel = normal(random);
  CueParameters parameters = gradient_cue();
  const std::vector<float> map = strength(image, parameters);
  EXPECT_LT(*std::max_element(map.begin(), map.end()), 0.25f);
  parameters.floor = 0.001;
  const std::vector<float> stretched = strength(image, parameters);
  EXPECT_EQ(*std::max_element(stretched.begin(), stretched.end()), 1.0f);
}

TEST_F(Cue, TwoRunsGiveTheSameBytes) {
  const Image image = random_image(97, 61, 3, 21);
  const std::vector<float> first = strength(image, gradient_cue());
  const std::vector<float> again = strength(image, gradient_cue());
  EXPECT_EQ(0, std::memcmp(first.data(), again.data(), first.size() * sizeof(float)));
}

TEST_F(Cue, ThePlanListsWhatIsAllocated) {
  Image image = random_image(67, 41, 3, 22);
  mask_out(image, 5);
  const Grid grid = grid_of(image, 3);
  MemoryBudget plan;
  budget_cue(plan, grid, gradient_cue());
  {
    const BoundaryMap map = boundary_strength(context_, image, grid, gradient_cue());
    EXPECT_EQ(context_.memory_in_use(), map.strength.bytes() + map.valid.bytes());
  }
  EXPECT_EQ(context_.memory_peak(), plan.total());
}

class CueKernels : public Cue {};

TEST_F(CueKernels, StayWithinTheirBuffers) {
  for (const auto& [width, height, padding, radius] : {std::tuple{1, 1, 0, 1},
                                                       {1, 9, 2, 3},
                                                       {9, 1, 0, 3},
                                                       {2, 2, 1, 6},
                                                       {64, 5, 0, 3},
                                                       {65, 23, 7, 2}}) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height << " radius " << radius);
    const CueLayout layout{width, height, width + padding};
    const auto elements = static_cast<std::size_t>(layout.stride) * height;
    std::mt19937 random(31);
    std::uniform_real_distribution<float> uniform(0.0f, 100.0f);
    std::vector<float> pixels(layout.pixels());
    for (float& pixel : pixels) pixel = uniform(random);
    std::vector<std::uint8_t> has_data(elements, 0);
    std::uint32_t count = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const bool hole = (x + 3 * y) % 5 == 4;
        has_data[static_cast<std::size_t>(y) * layout.stride + x] = hole ? 0 : 1;
        count += hole ? 0 : 1;
      }
    }
    testing::Guarded<std::uint8_t> valid(context_, has_data);
    testing::Guarded<float> plane(context_, pixels);
    testing::Guarded<float> smooth(context_, layout.pixels());
    testing::Guarded<float> slope(context_, layout.pixels());
    testing::Guarded<float> magnitude(context_, layout.pixels());
    testing::Guarded<float> ridges(context_, layout.pixels());
    testing::Guarded<float> strength(context_, elements);
    testing::Guarded<float> xx(context_, layout.pixels());
    testing::Guarded<float> xy(context_, layout.pixels());
    testing::Guarded<float> yy(context_, layout.pixels());
    CueTensor tensor{std::move(*xx), std::move(*xy), std::move(*yy)};

    std::vector<float> gauss(static_cast<std::size_t>(radius) + 1, 0.1f);
    CueGradient gradient(context_, layout, gauss,
                         std::vector<float>(static_cast<std::size_t>(radius), 0.1f));
    gradient.fill(*plane, *valid);
    gradient.add_channel(*plane, *smooth, *slope, tensor, true);
    gradient.add_channel(*plane, *smooth, *slope, tensor, false);
    gradient.magnitude(tensor, *valid, *magnitude);
    const Buffer<std::uint32_t> quantile =
        cue_quantile(context_, layout, *magnitude, *valid, (count + 1) / 2);
    launch_cue_thin(context_, layout, 0.1f, *magnitude, tensor, *slope, *ridges);
    launch_cue_strength(context_, layout, *ridges, *valid, quantile, 1.0f, *strength);
    *xx = std::move(tensor.xx);
    *xy = std::move(tensor.xy);
    *yy = std::move(tensor.yy);
    for (auto* buffer : {&plane, &smooth, &slope, &magnitude, &ridges, &strength, &xx, &xy, &yy}) {
      testing::expect_numbers(buffer->values());
    }
    EXPECT_EQ(valid.values(), has_data);
  }
}

TEST_F(CueKernels, TheQuantileIsExact) {
  for (const auto& [width, height, padding] :
       {std::tuple{1, 1, 0}, {7, 3, 2}, {64, 64, 0}, {200, 3, 1}, {3, 1500, 0}}) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height);
    const CueLayout layout{width, height, width + padding};
    std::mt19937 random(41);
    std::uniform_real_distribution<float> exponent(-140.0f, 20.0f);
    std::vector<float> values(layout.pixels());
    std::vector<std::uint8_t> valid(static_cast<std::size_t>(layout.stride) * height, 0);
    std::vector<float> ordered;
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Zeros, equals, values too small to be normal, and close neighbours.
      const std::uint32_t kind = random() % 4;
      values[i] = kind == 0   ? 0.0f
                  : kind == 1 ? 3.25f
                  : kind == 2 ? std::ldexp(1.0f, static_cast<int>(exponent(random)))
                              : 1.0f + static_cast<float>(random() % 64) * 1.1920929e-7f;
      if (random() % 5 == 0 && !ordered.empty()) continue;
      valid[i / width * layout.stride + i % width] = 1;
      ordered.push_back(values[i]);
    }
    std::sort(ordered.begin(), ordered.end());
    auto device_values = context_.allocate<float>(values.size(), "values");
    device_values.upload(values);
    auto device_valid = context_.allocate<std::uint8_t>(valid.size(), "valid");
    device_valid.upload(valid);
    for (const double share : {0.0, 0.1, 0.3, 0.5, 0.51, 0.7, 0.9, 0.99, 1.0}) {
      const auto index = static_cast<std::size_t>(share * static_cast<double>(ordered.size() - 1));
      const std::vector<std::uint32_t> found =
          cue_quantile(context_, layout, device_values, device_valid,
                       static_cast<std::uint32_t>(index + 1))
              .download();
      EXPECT_EQ(std::bit_cast<float>(found[0]), ordered[index]) << "rank " << index + 1;
    }
  }
}

}  // namespace
}  // namespace diacut
