// Affinities by features: kernels against their definition in double, and what holds for any
// features.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "affinity/affinity.hpp"
#include "block_problem.hpp"
#include "diacut/errors.hpp"
#include "doctor/checks.hpp"
#include "matchers.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

/// Every pixel has data at first.
struct Scene : FeatureProblem {
  float& feature(int channel, std::size_t element) {
    return features[static_cast<std::size_t>(channel) * grid.rows() + element];
  }
};

class FeatureAffinityTest : public GuardedTest {
 protected:
  Scene random_scene(const Grid& grid, int channels) {
    Scene scene{{{grid, std::vector<float>(grid.rows(), 0.0F)}, channels, {}}};
    scene.features = trial_.normal(grid.rows() * static_cast<std::size_t>(channels));
    scene.strength = trial_.uniform(grid.rows());
    for (float& each : scene.strength) each *= 0.3F;
    return scene;
  }

  FeatureAffinity made(const Scene& scene, const AffinityParameters& parameters) {
    return feature_affinity(context_, scene.on_device(context_), scene.source(), parameters);
  }

  /// Device against reference, every stored element; symmetric to the bit; in [0, 1].
  void expect_matches_reference(const Scene& scene, const AffinityParameters& parameters) {
    SCOPED_TRACE(::testing::Message()
                 << scene.grid.width << "x" << scene.grid.height << " channels " << scene.channels
                 << " largest stride " << parameters.strides.back() << " boundary "
                 << parameters.with_boundary);
    FeatureAffinity result;
    expect_right([&](Trial& trial) { result = check_feature_affinity(trial, scene, parameters); });
    const HostDiaMatrix matrix = download(result.matrix);
    ASSERT_EQ(matrix.shape, dia_shape(scene.grid, affinity_stencil(parameters)));
    ASSERT_GT(result.scale, 0);
    const auto [least, most] = std::minmax_element(matrix.values.begin(), matrix.values.end());
    EXPECT_GE(*least, 0.0f);
    EXPECT_LE(*most, 1.0f);
    expect_symmetric(matrix);
  }

  static AffinityParameters parameters(FeatureMeasure measure, bool with_boundary = false,
                                       std::vector<int> strides = {1}, int radius = 3) {
    AffinityParameters result;
    result.radius = radius;
    result.strides = std::move(strides);
    result.feature_measure = measure;
    result.with_boundary = with_boundary;
    return result;
  }
};

constexpr FeatureMeasure kMeasures[] = {FeatureMeasure::kCosine, FeatureMeasure::kGaussian};

TEST_F(FeatureAffinityTest, MatchesTheReferenceAtAwkwardSizes) {
  const Grid grids[] = {{1, 2},  {2, 1},  {1, 17},  {9, 1},  {17, 1},
                        {3, 40}, {63, 3}, {37, 23}, {40, 11}};
  for (const Grid& grid : grids) {
    for (const FeatureMeasure measure : kMeasures) {
      for (const bool boundary : {false, true}) {
        expect_matches_reference(random_scene(grid, 3), parameters(measure, boundary));
        expect_matches_reference(random_scene(grid, 2), parameters(measure, boundary, {1, 2, 4}));
      }
    }
  }
}

TEST_F(FeatureAffinityTest, MatchesTheReferenceForAnyNumberOfChannels) {
  for (const int channels :
       {1, 2, kFeatureBlock - 1, kFeatureBlock, kFeatureBlock + 1, 3 * kFeatureBlock + 5}) {
    for (const FeatureMeasure measure : kMeasures) {
      expect_matches_reference(random_scene({31, 14}, channels), parameters(measure));
    }
  }
}

class TinyFeatureAffinity : public FeatureAffinityTest {};

TEST_F(TinyFeatureAffinity, MatchesTheReference) {
  Scene scene = random_scene({6, 5}, 2);
  scene.hide(scene.element(3, 2));
  for (const FeatureMeasure measure : kMeasures) {
    expect_matches_reference(scene, parameters(measure, true, {1, 2}, 2));
    expect_matches_reference(random_scene({1, 3}, 1), parameters(measure, false, {1}, 2));
  }
}

TEST_F(FeatureAffinityTest, PixelsWithoutDataHaveNoAffinity) {
  Scene scene = random_scene({33, 21}, 4);
  const std::vector<float> lots = trial_.uniform(scene.grid.rows());
  for (std::size_t i = 0; i < lots.size(); ++i) {
    if (lots[i] < 0.25F) scene.hide(i);
  }
  for (const FeatureMeasure measure : kMeasures) {
    expect_matches_reference(scene, parameters(measure, true));
    expect_matches_reference(scene, parameters(measure));
  }
}

TEST_F(FeatureAffinityTest, CosineDoesNotSeeHowLongFeaturesAre) {
  Scene scene = random_scene({29, 17}, 5);
  for (std::size_t i = 0; i < scene.grid.rows(); ++i) {
    for (int c = 0; c < 5; ++c)
      scene.feature(c, i) *= std::ldexp(1.0f, static_cast<int>(i % 41) - 20);
  }
  expect_matches_reference(scene, parameters(FeatureMeasure::kCosine));
}

// A zero vector has no direction: it stays 0, one unit away from all others.
TEST_F(FeatureAffinityTest, ZeroVectorsAreDefined) {
  Scene scene = random_scene({12, 9}, 3);
  for (const int x : {4, 5}) {
    for (int c = 0; c < 3; ++c) scene.feature(c, scene.element(x, 4)) = 0;
  }
  AffinityParameters cosine = parameters(FeatureMeasure::kCosine);
  cosine.feature_scale = 0.5;
  expect_matches_reference(scene, cosine);
}

TEST_F(FeatureAffinityTest, TheAutomaticScaleIsAShareOfTheRange) {
  for (const FeatureMeasure measure : kMeasures) {
    const Scene scene = random_scene({41, 30}, 20);
    const double expected = reference_feature_scale(scene, parameters(measure));
    EXPECT_NEAR(made(scene, parameters(measure)).scale, expected, 1e-5 * expected);
  }
  // Columns 0 to 9 are 0, the others 2: some pairs differ by 2, all others do not differ.
  Scene halves = random_scene({20, 12}, 1);
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 20; ++x) halves.feature(0, halves.element(x, y)) = x < 10 ? 0.0f : 2.0f;
  }
  EXPECT_DOUBLE_EQ(made(halves, parameters(FeatureMeasure::kGaussian)).scale, 0.15 * 2);
  // One pixel that differs is less than a thousandth of the pairs.
  Scene one = random_scene({80, 60}, 1);
  for (std::size_t i = 0; i < one.grid.rows(); ++i) one.feature(0, i) = i == 3000 ? 5.0f : 1.0f;
  EXPECT_DOUBLE_EQ(made(one, parameters(FeatureMeasure::kGaussian)).scale, 0.15 * 4);
  const double given = 0.25;
  AffinityParameters own = parameters(FeatureMeasure::kGaussian);
  own.feature_scale = given;
  EXPECT_EQ(made(halves, own).scale, given);
}

TEST_F(FeatureAffinityTest, RefusesFeaturesThatDoNotDiffer) {
  // Of one direction, but not of one length.
  for (const int channels : {1, 2, 37}) {
    Scene flat = random_scene({9, 7}, channels);
    for (std::size_t i = 0; i < flat.grid.rows(); ++i) {
      for (int c = 0; c < channels; ++c) {
        flat.feature(c, i) = 0.1f * static_cast<float>(i + 1) * std::sin(static_cast<float>(c + 1));
      }
    }
    EXPECT_THAT(message_of<InputError>([&] { made(flat, parameters(FeatureMeasure::kCosine)); }),
                AllOf(HasSubstr("do not differ"), HasSubstr("gaussian")));
    EXPECT_NO_THROW(made(flat, parameters(FeatureMeasure::kGaussian)));
    if (channels == 1) continue;
    // A direction that differs by a hair is more than rounding.
    flat.feature(0, 30) *= 1.01f;
    EXPECT_GT(made(flat, parameters(FeatureMeasure::kCosine)).scale, 1e-4);
  }
}

}  // namespace
}  // namespace diacut::testing
