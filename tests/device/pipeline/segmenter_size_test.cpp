// Pictures that are larger than the size at which regions are found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "diacut/segmenter.hpp"
#include "label_checks.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

Parameters reduced_to(int side, Parameters parameters = {}) {
  parameters.image.detail = side;
  parameters.region.regions = 3;
  return parameters;
}

/// The pixels of `large`, off the boundaries of the scene, whose label is not the one that `small`
/// has there. The ridge of the gradient is two pixels of `small` wide.
int differences(const Labels& small, const Labels& large) {
  const int margin = 2 * large.width / small.width;
  int different = 0;
  for (int y = 0; y < large.height; ++y) {
    for (int x = 0; x < large.width; ++x) {
      if (scene(x, y, large.width, large.height, margin) < 0) continue;
      const int u = x * small.width / large.width;
      const int v = y * small.height / large.height;
      different += large.values[y * large.width + x] != small.values[v * small.width + u] ? 1 : 0;
    }
  }
  return different;
}

TEST(SegmenterSize, FindsTheSameRegionsAtAnySize) {
  for (const Parameters& asked : {Parameters{}, direct_cuts()}) {
    Segmenter segmenter = keeping_eigenvectors(reduced_to(96, asked));
    const std::unique_ptr<Segmentation> small = segmenter.begin(two_discs(96, 72)).finish();
    const std::unique_ptr<Segmentation> large = segmenter.begin(two_discs(480, 360)).finish();
    expect_labels_contract(large->labels, 480, 360);
    EXPECT_EQ(large->labels.count, 3);
    expect_discs_found(large->labels);
    EXPECT_EQ(differences(small->labels, large->labels), 0);
    EXPECT_EQ(large->eigenvectors.width, 96);
    EXPECT_EQ(large->eigenvectors.height, 72);
  }
}

TEST(SegmenterSize, LargeImagesOfOneWorkingSizeGoTogether) {
  Segmenter segmenter = keeping_eigenvectors(reduced_to(96));
  const std::vector<Image> images = {two_discs(480, 360), two_discs(960, 720), two_discs(96, 72)};
  std::vector<ImageToSegment> asked;
  for (const Image& image : images) {
    EXPECT_EQ(segmenter.working_pixels(image), 96 * 72);
    asked.emplace_back(image);
  }
  std::vector<BegunSegmentation> begun = segmenter.begin(asked);
  for (std::size_t k = 0; k < images.size(); ++k) {
    SCOPED_TRACE(k);
    const Labels found = std::move(begun[k]).finish()->labels;
    EXPECT_EQ(found.values, segmenter.segment(images[k]).labels.values);
    EXPECT_EQ(found.width, images[k].width);
  }
}

TEST(SegmenterSize, AllResultsOfAHierarchyHaveTheSizeOfTheImage) {
  const HierarchyCut result = keeping_eigenvectors(reduced_to(64)).segment(two_discs(201, 151));
  check(result.hierarchy);
  EXPECT_EQ(result.hierarchy.leaves.width, 201);
  EXPECT_EQ(result.hierarchy.leaves.height, 151);
  EXPECT_EQ(result.contours.size(), 201u * 151u);
  std::vector<std::string> notes;
  RegionParameters region;
  region.regions = 3;
  EXPECT_EQ(cut(result.hierarchy, region, notes).values, result.labels.values);
}

TEST(SegmenterSize, PixelsWithoutDataHaveNoRegion) {
  Image image = two_discs(240, 180);
  image.valid.assign(image.pixel_count(), 1);
  for (int y = 0; y < 180; ++y) {
    for (int x = 0; x < 240; ++x) {
      if (x / 7 % 5 != 0 || y > 3) continue;
      const auto i = static_cast<std::size_t>(y * 240 + x);
      image.valid[i] = 0;
      std::fill_n(image.pixels.begin() + static_cast<std::ptrdiff_t>(i) * image.channels,
                  image.channels, 0.0F);
    }
  }
  for (const Parameters& asked : {Parameters{}, direct_cuts()}) {
    Segmenter segmenter = keeping_eigenvectors(reduced_to(80, asked));
    expect_labels_contract(segmenter.begin(image).finish()->labels, 240, 180, image.valid);
  }
}

TEST(SegmenterSize, NativeFindsRegionsInTheImageItself) {
  Parameters native = reduced_to(0);
  const Image image = two_discs(120, 90);
  const HierarchyCut result = keeping_eigenvectors(native).segment(image);
  EXPECT_EQ(result.eigenvectors.width, 120);
  EXPECT_EQ(result.labels.width, 120);
  // A picture that the network sees as it is gives the same.
  const HierarchyCut detailed = keeping_eigenvectors(reduced_to(160)).segment(image);
  EXPECT_EQ(result.labels.values, detailed.labels.values);
  EXPECT_EQ(result.contours, detailed.contours);
}

TEST(SegmenterSize, StripsAndSinglePixelsAreSegmented) {
  Segmenter segmenter = keeping_eigenvectors(reduced_to(64));
  for (const auto& [width, height] : {std::pair(1, 3000), std::pair(3000, 2), std::pair(700, 65)}) {
    const HierarchyCut result = segmenter.segment(two_discs(width, height));
    expect_labels_contract(result.labels, width, height);
  }
}

}  // namespace
}  // namespace diacut::testing
