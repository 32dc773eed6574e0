// Segmentations by features that come with an image: what regions they give, and which are refused.
#include <gtest/gtest.h>

#include <bit>
#include <utility>
#include <vector>

#include "diacut/segmenter.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

constexpr int kWidth = 90;
constexpr int kHeight = 70;

/// Features that tell the parts of two_discs() apart, and a little noise. `divisor`: of the size.
FeatureMap disc_features(int divisor = 1, int channels = 3) {
  FeatureMap map{kWidth / divisor, kHeight / divisor, channels, {}};
  std::vector<float> values;
  unsigned state = 5;
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      const int part = scene(x * divisor + divisor / 2, y * divisor + divisor / 2, kWidth, kHeight);
      for (int c = 0; c < channels; ++c) {
        state = state * 1664525U + 1013904223U;
        values.push_back((c % 3 == part ? 1.0f : 0.1f) +
                         0.05f * static_cast<float>(state >> 8) / 16777216.0f);
      }
    }
  }
  map.values = std::move(values);
  return map;
}

/// Of one value: features alone tell parts apart.
const Image& flat() {
  static const Image image = flat_image(kWidth, kHeight, 1, 0.5f);
  return image;
}

Parameters with_regions(int regions) {
  Parameters parameters;
  parameters.region.regions = regions;
  return parameters;
}

HierarchyCut by_features(const Parameters& parameters, const FeatureMap& features) {
  return keeping_eigenvectors(parameters).segment({flat(), nullptr, &features});
}

TEST(SegmenterFeatures, MayBeSmallerThanThePictureAndThePictureReduced) {
  Parameters parameters = with_regions(3);
  expect_discs_found(by_features(parameters, disc_features(2)).labels);
  parameters.image.detail = 60;
  const HierarchyCut reduced = by_features(parameters, disc_features());
  expect_labels_contract(reduced.labels, kWidth, kHeight);
  expect_discs_found(reduced.labels);
}

TEST(SegmenterFeatures, StridesReachFarther) {
  Parameters parameters = with_regions(3);
  const FeatureMap features = disc_features();
  const ImageToSegment asked(flat(), nullptr, &features);
  const KwayCut near = keeping_eigenvectors(parameters).cut(asked);
  parameters.affinity.strides = {1, 2, 4};
  const KwayCut far = keeping_eigenvectors(parameters).cut(asked);
  EXPECT_EQ(far.eigenvectors.report.solver, "multilevel");
  EXPECT_TRUE(far.eigenvectors.report.converged);
  expect_discs_found(far.labels);
  // A walk crosses the picture in fewer steps, so what changes slowly has larger eigenvalues.
  EXPECT_GT(far.eigenvectors.values[3], 2 * near.eigenvectors.values[3]);
  // The matrix has 201 diagonals in place of 81.
  EXPECT_GE(
      far.costs.announced.device_bytes,
      near.costs.announced.device_bytes + std::uint64_t{120} * kWidth * kHeight * sizeof(float));
  EXPECT_LE(far.costs.device_peak_bytes, far.costs.announced.device_bytes);
}

TEST(SegmenterFeatures, HalvesGiveWhatTheirFloatsGive) {
  FeatureMap floats = disc_features();
  std::vector<std::uint16_t> bits_of_16;
  for (float& value : std::get<0>(floats.values)) {
    // A normal number of 16 bits: 10 bits of mantissa.
    const auto bits = std::bit_cast<std::uint32_t>(value) & 0xffffe000U;
    value = std::bit_cast<float>(bits);
    bits_of_16.push_back(
        static_cast<std::uint16_t>(((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ffU)));
  }
  const HierarchyCut a = by_features(with_regions(3), floats);
  const HierarchyCut b = by_features(with_regions(3), {kWidth, kHeight, 3, std::move(bits_of_16)});
  EXPECT_EQ(a.labels.values, b.labels.values);
  EXPECT_EQ(a.contours, b.contours);
}

TEST(SegmenterFeatures, GrowSeeds) {
  const FeatureMap features = disc_features();
  Seeds seeds{kWidth, kHeight, std::vector<std::int32_t>(std::size_t{kWidth} * kHeight, 0)};
  std::vector<bool> marked(3, false);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int part = scene(x, y, kWidth, kHeight, 4);
      if (part < 0 || marked[part]) continue;
      marked[part] = true;
      seeds.labels[static_cast<std::size_t>(y) * kWidth + static_cast<std::size_t>(x)] = part + 1;
    }
  }
  const SeedGrowth result = keeping_eigenvectors().grow({{flat(), nullptr, &features}, seeds});
  EXPECT_TRUE(result.walk.converged);
  EXPECT_GT(result.feature_scale, 0);
  expect_discs_found(result.labels);
}

// They go to the device some channels at a time.
TEST(SegmenterFeatures, MayBeLargerThanTheDevicesMemory) {
  const FeatureMap features = disc_features(1, 1400);
  Segmenter segmenter = keeping_eigenvectors(with_regions(3));
  const ImageToSegment asked(flat(), nullptr, &features);
  const HierarchyCut free = segmenter.segment(asked);
  const std::uint64_t limit = free.costs.announced.device_bytes;
  ASSERT_LT(2 * limit, features.size().bytes());
  segmenter.limit_device_memory(limit);
  const HierarchyCut limited = segmenter.segment(asked);
  EXPECT_LE(limited.costs.device_peak_bytes, limit);
  EXPECT_EQ(limited.labels.values, free.labels.values);
  EXPECT_EQ(limited.contours, free.contours);
  EXPECT_EQ(limited.feature_scale, free.feature_scale);
  expect_discs_found(limited.labels);
}

TEST(SegmenterFeatures, CountAmongTheMemoryThatIsNeeded) {
  const FeatureMap features = disc_features(1, 40);
  Segmenter segmenter = keeping_eigenvectors(with_regions(3));
  const HierarchyCut result = segmenter.segment({flat(), nullptr, &features});
  EXPECT_LE(result.costs.device_peak_bytes, result.costs.announced.device_bytes);
  ImageSize size;
  size.width = kWidth;
  size.height = kHeight;
  size.channels = 1;
  const auto needed = [&](const FeatureSize& own) {
    return check_memory(size, with_regions(3), segmenter.device(), 0, {false, false, own});
  };
  EXPECT_EQ(needed(features.size()).device_bytes, result.costs.announced.device_bytes);
  EXPECT_GE(needed({kWidth, kHeight, 4000, 4}).host_bytes,
            needed(features.size()).host_bytes + std::uint64_t{3960} * 4 * kWidth * kHeight);
}

TEST(SegmenterFeatures, RefusesWhatDoesNotFit) {
  FeatureMap cut = disc_features();
  std::get<0>(cut.values).pop_back();
  Segmenter segmenter = keeping_eigenvectors();
  EXPECT_THAT(message_of<InputError>([&] {
                segmenter.segment({flat(), nullptr, &cut});
              }),
              HasSubstr("expected 18900"));
}

}  // namespace
}  // namespace diacut::testing
