#include "pipeline/working_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "diacut/errors.hpp"

namespace diacut {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Image working_image_grey(int width, int height) {
  return {width, height, 1, std::vector<float>(static_cast<std::size_t>(width * height), 0.5F),
          {},    {}};
}

Parameters with_detail(int side) {
  Parameters parameters;
  parameters.image.detail = side;
  return parameters;
}

TEST(WorkingImage, IsTheImageItselfUpToTheSizeOfDetail) {
  const Image image = working_image_grey(64, 40);
  for (const int side : {0, 64, 640}) {
    const WorkingImage working = working_image({&image, nullptr}, with_detail(side));
    EXPECT_EQ(working.image.get(), &image);
    EXPECT_FALSE(working.edges);
    EXPECT_FALSE(working.full);
  }
}

TEST(WorkingImage, IsReducedBeyondIt) {
  const Image image = working_image_grey(64, 40);
  const WorkingImage working = working_image({&image, nullptr}, with_detail(32));
  EXPECT_EQ(working.size(), (PictureSize{32, 20}));
  ASSERT_TRUE(working.full);
  EXPECT_EQ(working.full->size, (PictureSize{64, 40}));
  EXPECT_EQ(working.full->detail.width, 64);
  // The detail is at most twice the working size.
  EXPECT_EQ(working_image({&image, nullptr}, with_detail(16)).full->detail.width, 32);
}

TEST(WorkingImage, ReducesABoundaryMapByItsMaximum) {
  const Image image = working_image_grey(8, 4);
  EdgeMap edges{8, 4, std::vector<float>(32, 0.0F)};
  for (std::size_t y = 0; y < 4; ++y) edges.strength[y * 8 + 5] = 0.75F;
  const WorkingImage working = working_image({&image, &edges}, with_detail(4));
  ASSERT_TRUE(working.edges);
  EXPECT_THAT(working.edges->strength, ElementsAre(0, 0, 0.75F, 0, 0, 0, 0.75F, 0));
}

std::string refusal(const Image& image, const EdgeMap& edges) {
  try {
    working_image({&image, &edges}, with_detail(4));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(WorkingImage, RefusesABoundaryMapThatDoesNotFit) {
  const Image image = working_image_grey(8, 4);
  EXPECT_THAT(refusal(image, {4, 2, std::vector<float>(8, 0.0F)}), HasSubstr("4x2"));
  EdgeMap edges{8, 4, std::vector<float>(32, 0.0F)};
  for (const float bad : {-0.1F, 1.1F, std::numeric_limits<float>::quiet_NaN()}) {
    edges.strength[9] = bad;
    EXPECT_THAT(refusal(image, edges), HasSubstr("from 0 to 1")) << bad;
  }
}

TEST(WorkingParameters, TheNetworkSeesThreeQuartersOfTheDetail) {
  const Parameters parameters;
  const auto scales = [&](const PictureSize& size) {
    return working_parameters(parameters, size, size, {}).cue.scales;
  };
  // Photographs of the size that the network learned from are seen as they are.
  EXPECT_THAT(scales({481, 321}), ElementsAre(0.5, 1.0));
  EXPECT_THAT(scales({100, 50}), ElementsAre(0.5, 1.0));
  EXPECT_THAT(scales({640, 480}),
              ElementsAre(DoubleNear(0.5 * 481 / 640, 1e-9), DoubleNear(481.0 / 640, 1e-9)));
  EXPECT_THAT(scales({400, 600}),
              ElementsAre(DoubleNear(0.5 * 481 / 600, 1e-9), DoubleNear(481.0 / 600, 1e-9)));
  EXPECT_THAT(working_parameters(with_detail(0), {4000, 3000}, {4000, 3000}, {}).cue.scales,
              ElementsAre(0.5, 1.0));
}

TEST(WorkingParameters, ALeastSizeOfDirectCutsIsInPixelsOfTheWorkingImage) {
  Parameters parameters;
  parameters.region.min_size = {LeastSize::Unit::kPixels, 1600};
  const auto least = [&] {
    return working_parameters(parameters, {40, 30}, {160, 120}, {}).region.min_size.value;
  };
  EXPECT_EQ(least(), 1600);  // A hierarchy is cut in the full image.
  parameters.region.method = RegionMethod::kKway;
  EXPECT_EQ(least(), 100);
  parameters.region.min_size = {LeastSize::Unit::kShare, 0.01};
  EXPECT_EQ(least(), 0.01);
}

}  // namespace
}  // namespace diacut
