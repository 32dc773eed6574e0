// What a run announces against what it takes on the device.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "diacut/segmenter.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

/// A photograph's size: what the plan does not know beforehand, up to 12 MB for how far grids are
/// coarsened and which sums a device takes, is more than a tenth of what a much smaller image
/// takes.
constexpr int kSegmenterMemoryWidth = 480;
constexpr int kSegmenterMemoryHeight = 320;

/// Expects that at most a tenth of what was announced for the device was not taken, and no more
/// was taken.
void expect_taken_as_announced(const Segmentation& result) {
  const std::uint64_t announced = result.costs.memory_plan.device_bytes();
  EXPECT_LE(result.costs.device_peak_bytes, announced);
  EXPECT_GE(result.costs.device_peak_bytes, announced - announced / 10);
}

void expect_taken_as_announced(const Parameters& parameters, int width, int height,
                               bool eigenvectors = true) {
  SCOPED_TRACE(::testing::Message() << width << "x" << height);
  Segmenter segmenter(parameters, test_device());
  segmenter.keep_eigenvectors(eigenvectors);
  const Image image = two_discs(width, height);
  const Segmentation result = segmenter.segment(image);
  expect_taken_as_announced(result);
  const MemoryPlan before = plan_memory({width, height, image.channels}, parameters,
                                        segmenter.device(), 0, {.eigenvectors = eigenvectors});
  EXPECT_EQ(before.device_bytes(), result.costs.memory_plan.device_bytes());
  EXPECT_EQ(before.host_bytes(), result.costs.memory_plan.host_bytes());
  EXPECT_GT(result.costs.host_before_bytes, 0u);
  EXPECT_LT(result.costs.host_before_bytes, result.costs.host_peak_bytes);
}

TEST(SegmenterMemory, IsTakenAsAnnounced) {
  Parameters gradient;
  gradient.boundary.kind = BoundaryKind::kGradient;
  Parameters lanczos = gradient;
  lanczos.eigen.solver = SolverKind::kLanczos;
  Parameters never = gradient;
  never.contour.spectral = SpectralUse::kNever;
  Parameters full = gradient;
  full.contour.spectral = SpectralUse::kFull;
  Parameters reduced = load_parameters("nuclei");
  reduced.boundary.turns = 4;
  reduced.image.detail = kSegmenterMemoryHeight;
  for (const Parameters& parameters : {Parameters(), gradient, lanczos}) {
    expect_taken_as_announced(parameters, kSegmenterMemoryWidth, kSegmenterMemoryHeight);
  }
  for (const Parameters& parameters :
       {Parameters(), never, full, direct_cuts(), load_parameters("nuclei"), reduced}) {
    expect_taken_as_announced(parameters, kSegmenterMemoryWidth, kSegmenterMemoryHeight, false);
  }
  Parameters turned;
  turned.boundary.turns = 8;
  turned.image.detail = kSegmenterMemoryWidth;
  expect_taken_as_announced(turned, 2 * kSegmenterMemoryHeight, 2 * kSegmenterMemoryWidth);
}

TEST(SegmenterMemory, OfSeveralImagesIsTakenAsAnnounced) {
  const Image image = two_discs(kSegmenterMemoryWidth, kSegmenterMemoryHeight);
  for (const bool eigenvectors : {false, true}) {
    Segmenter segmenter(Parameters(), test_device());
    segmenter.keep_eigenvectors(eigenvectors);
    const Segmentation alone = segmenter.segment(image);
    // The eigensolver holds the matrices and vectors of both.
    const std::uint64_t least = alone.costs.memory_plan.device_bytes() * (eigenvectors ? 3 : 2) / 2;
    const std::vector<ImageToSegment> images(eigenvectors ? 2 : 3, {&image, nullptr});
    for (BegunSegmentation& each : segmenter.begin(images)) {
      const Segmentation result = std::move(each).finish();
      expect_taken_as_announced(result);
      EXPECT_GT(result.costs.memory_plan.device_bytes(), least);
      EXPECT_EQ(result.contours, alone.contours);
      EXPECT_EQ(result.labels.values, alone.labels.values);
    }
  }
}

/// Seeds of so many labels, a few pixels each.
Seeds seeds_of(int labels) {
  Seeds seeds{
      kSegmenterMemoryWidth, kSegmenterMemoryHeight,
      std::vector<std::int32_t>(std::size_t{kSegmenterMemoryWidth} * kSegmenterMemoryHeight, 0)};
  for (int k = 0; k < labels; ++k) {
    const auto row = static_cast<std::size_t>((2 * k + 1) * kSegmenterMemoryHeight / (2 * labels));
    for (std::size_t x = 20; x < kSegmenterMemoryWidth - 20; x += 40)
      seeds.labels[row * kSegmenterMemoryWidth + x] = k + 1;
  }
  return seeds;
}

// Blocks of 4 vectors, of 8, and several blocks of 8.
TEST(SegmenterMemory, OfARandomWalkIsTakenAsAnnouncedForItsLabels) {
  Parameters parameters;
  parameters.region.method = RegionMethod::kWalker;
  parameters.boundary.kind = BoundaryKind::kGradient;
  Segmenter segmenter(parameters, test_device());
  const Image image = two_discs(kSegmenterMemoryWidth, kSegmenterMemoryHeight);
  std::uint64_t fewer = 0;
  for (const int labels : {2, 4, 7, 20}) {
    SCOPED_TRACE(labels);
    const Seeds seeds = seeds_of(labels);
    const Segmentation result = segmenter.segment(ImageToSegment{&image, nullptr, &seeds});
    expect_taken_as_announced(result);
    const std::uint64_t taken = result.costs.memory_plan.device_bytes();
    const MemoryPlan before =
        plan_memory({kSegmenterMemoryWidth, kSegmenterMemoryHeight, image.channels}, parameters,
                    segmenter.device());
    if (labels <= 4) {
      EXPECT_EQ(before.device_bytes(), taken);
    } else {
      EXPECT_GT(taken, fewer);
    }
    fewer = taken;
  }
}

TEST(SegmenterMemory, OfASmallImageIsNotMoreThanAnnounced) {
  Parameters parameters;
  for (const int turns : {1, 8}) {
    parameters.boundary.turns = turns;
    Segmenter segmenter(parameters, test_device());
    const Segmentation result = segmenter.segment(two_discs(48, 80));
    EXPECT_LE(result.costs.device_peak_bytes, result.costs.memory_plan.device_bytes());
  }
}

}  // namespace
}  // namespace diacut::testing
