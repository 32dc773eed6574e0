#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <memory>
#include <random>
#include <vector>

#include "diacut/segmenter.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/stencil.hpp"
#include "pipeline/run_forms.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

TEST(Segmenter, FinishesAnImageWhileItIsAtTheNext) {
  for (const Parameters& parameters : {Parameters{}, direct_cuts()}) {
    Segmenter segmenter = keeping_eigenvectors(parameters);
    auto masked = std::make_unique<Image>(two_discs(64, 48));
    masked->valid.assign(masked->pixel_count(), 1);
    masked->valid[100] = 0;
    const Image other = two_discs(48, 64);
    const std::unique_ptr<Segmentation> first = segmenter.begin(*masked).finish();
    const std::unique_ptr<Segmentation> second = segmenter.begin(other).finish();

    BegunSegmentation begun = segmenter.begin(*masked);
    masked.reset();
    auto finished = std::async(std::launch::async, [&] { return std::move(begun).finish(); });
    const std::unique_ptr<Segmentation> next = segmenter.begin(other).finish();
    const std::unique_ptr<Segmentation> result = finished.get();
    expect_same(*first, *result);
    EXPECT_EQ(contours_of(*result), contours_of(*first));
    EXPECT_EQ(result->costs.times.size(), first->costs.times.size());
    EXPECT_GT(result->costs.host_peak_bytes, 0u);
    expect_same(*second, *next);
  }
}

/// two_discs() with patches that depend on the seed; odd seeds give pixels without data too.
Image mottled(int width, int height, unsigned seed) {
  Image image = two_discs(width, height);
  std::mt19937 random(seed);
  for (int patch = 0; patch < 25; ++patch) {
    const int x0 = static_cast<int>(random() % static_cast<unsigned>(width - 12));
    const int y0 = static_cast<int>(random() % static_cast<unsigned>(height - 12));
    const float shade = 0.4F + static_cast<float>(random() % 600) * 1e-3F;
    for (int y = y0; y < y0 + 12; ++y) {
      for (int x = x0; x < x0 + 12; ++x) {
        for (int c = 0; c < 3; ++c) {
          image.pixels[(y * width + x) * 3 + c] *= shade;
        }
      }
    }
  }
  if (seed % 2 == 1) {
    image.valid.assign(image.pixel_count(), 1);
    std::fill_n(image.valid.begin(), 3 * width, std::uint8_t{0});
  }
  return image;
}

void expect_all_the_same(const Segmentation& found, const Segmentation& alone) {
  expect_same(found, alone);
  EXPECT_EQ(contours_of(found), contours_of(alone));
  EXPECT_EQ(found.eigenvectors.report.residuals, alone.eigenvectors.report.residuals);
  EXPECT_EQ(found.eigenvectors.report.solver, alone.eigenvectors.report.solver);
  EXPECT_EQ(found.notes, alone.notes);
}

TEST(Segmenter, GivesImagesTogetherWhatEachGetsAlone) {
  std::vector<Image> images;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    images.push_back(mottled(101, 67, seed));
    images.push_back(mottled(64, 90, seed + 10));
  }
  images.push_back(two_discs(12, 9));  // Solved densely.
  images.push_back(two_discs(12, 9));
  images.push_back(flat_image(101, 67, 3, 0.5F));
  BoundaryMap map{101, 67, std::vector<float>(std::size_t{101} * 67, 0.1F)};
  for (int y = 0; y < 67; ++y) map.strength[y * 101 + 50] = 0.9F;
  images.push_back(mottled(101, 67, 4));
  std::vector<ImageToSegment> asked(images.begin(), images.end());
  asked.back().boundary_map = &map;

  Segmenter segmenter = keeping_eigenvectors();
  std::vector<BegunSegmentation> begun = segmenter.begin(asked);
  ASSERT_EQ(begun.size(), images.size());
  for (std::size_t k = 0; k < images.size(); ++k) {
    SCOPED_TRACE(k);
    expect_all_the_same(*std::move(begun[k]).finish(), *segmenter.begin(asked[k]).finish());
  }
}

TEST(Segmenter, OneOfSeveralImagesThatFailsLeavesTheOthersAlone) {
  const Image good = mottled(90, 70, 2);
  Image broken = good;
  broken.pixels.pop_back();
  Image empty = good;
  empty.valid.assign(empty.pixel_count(), 0);
  Segmenter segmenter = keeping_eigenvectors();
  const std::vector<ImageToSegment> asked = {broken, good, empty, good};
  std::vector<BegunSegmentation> begun = segmenter.begin(asked);
  ASSERT_EQ(begun.size(), 4U);
  EXPECT_THROW(std::move(begun[0]).finish(), InputError);
  EXPECT_THROW(std::move(begun[2]).finish(), InputError);
  const HierarchyCut alone = segmenter.segment(good);
  expect_all_the_same(*std::move(begun[1]).finish(), alone);
  expect_all_the_same(*std::move(begun[3]).finish(), alone);
}

TEST(Segmenter, AsManyImagesGoTogetherAsFit) {
  const Image image = mottled(90, 70, 2);
  Segmenter segmenter = keeping_eigenvectors();
  const HierarchyCut alone = segmenter.segment(image);
  for (const int fit : {1, 2}) {
    const std::vector<RunForm> forms =
        forms_to_try(Grid{90, 70}, fit, segmenter.parameters(), segmenter.device());
    ASSERT_FALSE(forms.empty());
    const std::uint64_t most = device_memory(forms.front()).total;
    segmenter.limit_device_memory(most);
    const std::vector<ImageToSegment> asked(4, image);
    for (BegunSegmentation& each : segmenter.begin(asked)) {
      const std::unique_ptr<Segmentation> found = std::move(each).finish();
      EXPECT_LE(found->costs.device_peak_bytes, most);
      if (fit == 2) {
        EXPECT_GT(found->costs.device_peak_bytes, 3 * alone.costs.device_peak_bytes / 2);
      }
      expect_all_the_same(*found, alone);
    }
  }
}

TEST(Segmenter, ImagesTogetherCanBeCancelled) {
  const Image image = mottled(90, 70, 2);
  Segmenter segmenter = keeping_eigenvectors();
  CancelToken token;
  const Watch watch{[&](std::string_view stage, double) {
                      if (stage == "eigenvectors") token.cancel();
                    },
                    &token};
  const std::vector<ImageToSegment> asked(2, image);
  EXPECT_THROW(segmenter.begin(asked, watch), CancelledError);
  EXPECT_EQ(segmenter.begin(asked).size(), 2U);
}

TEST(Segmenter, CanBeCancelledBetweenItsHalves) {
  Segmenter segmenter = keeping_eigenvectors();
  const Image image = two_discs(64, 48);
  BegunSegmentation begun = segmenter.begin(image);
  CancelToken cancel;
  cancel.cancel();
  EXPECT_THROW(std::move(begun).finish({{}, &cancel}), CancelledError);
}

}  // namespace
}  // namespace diacut::testing
