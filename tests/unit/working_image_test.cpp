// Probabilities that a random walk starts from: what files are read, and what fits an image.
#include "pipeline/working_image.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "diacut/seeds.hpp"
#include "drawn_image.hpp"
#include "image_files.hpp"
#include "matchers.hpp"
#include "output/npy.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

Parameters with_detail(int side) {
  Parameters parameters;
  parameters.image.detail = side;
  return parameters;
}

TEST(WorkingImage, IsTheImageItselfUpToTheSizeOfDetail) {
  const Image image = testing::grey_image(64, 40, 0.5F);
  for (const int side : {0, 64, 640}) {
    const WorkingImage working = working_image({&image, nullptr}, with_detail(side));
    EXPECT_EQ(working.image.get(), &image);
    EXPECT_FALSE(working.boundary_map);
    EXPECT_FALSE(working.full);
  }
}

TEST(WorkingImage, IsReducedBeyondIt) {
  const Image image = testing::grey_image(64, 40, 0.5F);
  const WorkingImage working = working_image({&image, nullptr}, with_detail(32));
  EXPECT_EQ(working.size(), (PictureSize{32, 20}));
  ASSERT_TRUE(working.full);
  EXPECT_EQ(working.full->size, (PictureSize{64, 40}));
  EXPECT_EQ(working.full->detail.width, 64);
  // The detail is at most twice the working size.
  EXPECT_EQ(working_image({&image, nullptr}, with_detail(16)).full->detail.width, 32);
}

TEST(WorkingImage, ReducesABoundaryMapByItsMaximum) {
  const Image image = testing::grey_image(8, 4, 0.5F);
  BoundaryMap map{8, 4, std::vector<float>(32, 0.0F)};
  for (std::size_t y = 0; y < 4; ++y) map.strength[y * 8 + 5] = 0.75F;
  const WorkingImage working = working_image({&image, &map}, with_detail(4));
  ASSERT_TRUE(working.boundary_map);
  EXPECT_THAT(working.boundary_map->strength, ElementsAre(0, 0, 0.75F, 0, 0, 0, 0.75F, 0));
}

std::string refusal(const Image& image, const BoundaryMap& map) {
  return message_of<InputError>([&] { working_image({&image, &map}, with_detail(4)); });
}

TEST(WorkingImage, RefusesABoundaryMapThatDoesNotFit) {
  const Image image = testing::grey_image(8, 4, 0.5F);
  EXPECT_THAT(refusal(image, {4, 2, std::vector<float>(8, 0.0F)}), HasSubstr("4x2"));
  BoundaryMap map{8, 4, std::vector<float>(32, 0.0F)};
  for (const float bad : {-0.1F, 1.1F, std::numeric_limits<float>::quiet_NaN()}) {
    map.strength[9] = bad;
    EXPECT_THAT(refusal(image, map), HasSubstr("from 0 to 1")) << bad;
  }
}

TEST(WorkingParameters, TheNetworkSeesThreeQuartersOfTheDetail) {
  const Parameters parameters;
  const auto scales = [&](const PictureSize& size) {
    return working_parameters(parameters, size, size, {}).boundary.scales;
  };
  // Photographs of the size that the network learned from are seen as they are.
  EXPECT_THAT(scales({481, 321}), ElementsAre(0.5, 1.0));
  EXPECT_THAT(scales({100, 50}), ElementsAre(0.5, 1.0));
  EXPECT_THAT(scales({640, 480}),
              ElementsAre(DoubleNear(0.5 * 481 / 640, 1e-9), DoubleNear(481.0 / 640, 1e-9)));
  EXPECT_THAT(scales({400, 600}),
              ElementsAre(DoubleNear(0.5 * 481 / 600, 1e-9), DoubleNear(481.0 / 600, 1e-9)));
  EXPECT_THAT(working_parameters(with_detail(0), {4000, 3000}, {4000, 3000}, {}).boundary.scales,
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

class ReadProbabilities : public ::testing::Test {
 protected:
  std::string failure(const std::vector<std::uint8_t>& bytes) {
    const std::string path = folder_.write("p.npy", bytes);
    const std::string message = message_of<InputError>([&] { read_probabilities(path); });
    EXPECT_THAT(message, HasSubstr("p.npy"));
    return message;
  }
  testing::TempFolder folder_;
};

TEST_F(ReadProbabilities, ReadsWhatIsWritten) {
  const std::string path = folder_.write("p.npy", std::vector<std::uint8_t>{});
  write_probabilities(path, {{0, 0.25F, 1, 0, 0.5F, 1}, {1, 0.75F, 0, 1, 0.5F, 0}}, 3, 2);
  const Probabilities read = read_probabilities(path);
  EXPECT_EQ(read.width, 3);
  EXPECT_EQ(read.height, 2);
  EXPECT_THAT(read.of_label, ElementsAre(ElementsAre(0, 0.25F, 1, 0, 0.5F, 1),
                                         ElementsAre(1, 0.75F, 0, 1, 0.5F, 0)));
}

TEST_F(ReadProbabilities, RefusesOtherNumbersNamingTheirPixel) {
  for (const float wrong : {-0.125F, 1.5F, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    std::vector<float> values(12, 0.5F);
    values[6 + 4] = wrong;
    EXPECT_THAT(failure(encode_npy<float>(values, {2, 2, 3})),
                AllOf(HasSubstr("column 1, row 1"), HasSubstr("[0, 1]")))
        << wrong;
  }
}

TEST_F(ReadProbabilities, RefusesOtherFiles) {
  const std::vector<float> half(12, 0.5F);
  EXPECT_THAT(failure(encode_npy<float>(half, {4, 3})),
              AllOf(HasSubstr("(4, 3)"), HasSubstr("(labels, height, width)")));
  EXPECT_THAT(failure(encode_npy<float>(std::vector<float>{}, {0, 4, 3})), HasSubstr("(0, 4, 3)"));
  EXPECT_THAT(failure(encode_npy<double>(std::vector<double>(12, 0.5), {1, 4, 3})),
              AllOf(HasSubstr("<f8"), HasSubstr("float32")));
  std::vector<std::uint8_t> cut = encode_npy<float>(half, {1, 4, 3});
  cut.resize(cut.size() - 4);
  EXPECT_THAT(failure(cut), HasSubstr("cut off"));
  EXPECT_THAT(failure({'P', '5'}), HasSubstr("no .npy file"));
  EXPECT_THAT(message_of<InputError>([&] { read_probabilities(folder_ / "none.npy"); }),
              AllOf(HasSubstr("none.npy"), HasSubstr("no such file")));
}

Probabilities halves(int width, int height, int labels) {
  return {width, height,
          std::vector<std::vector<float>>(
              static_cast<std::size_t>(labels),
              std::vector<float>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height),
                                 0.5F))};
}

Parameters walking() {
  Parameters parameters;
  parameters.region.method = RegionMethod::kWalker;
  return parameters;
}

class WalkStart : public ::testing::Test {
 protected:
  WalkStart() {
    seeds_.labels[0] = 1;
    seeds_.labels[31] = 5;
  }
  ImageToSegment asked(const Probabilities& start) const {
    ImageToSegment result;
    result.image = &image_;
    result.seeds = &seeds_;
    result.start = &start;
    return result;
  }
  Image image_ = testing::grey_image(8, 4, 0.5F);
  Seeds seeds_{8, 4, std::vector<std::int32_t>(32, 0)};
};

TEST_F(WalkStart, IsWhatIsGivenAtTheImagesOwnSize) {
  Probabilities start = halves(8, 4, 2);
  start.of_label[0][9] = 0.25F;
  const WorkingImage working = working_image(asked(start), walking());
  ASSERT_TRUE(working.seeds);
  EXPECT_EQ(working.seeds->start, start.of_label);
}

TEST_F(WalkStart, IsTheMeanInAReduction) {
  Probabilities start = halves(8, 4, 1);
  start.of_label[0][0] = 0.1F;
  start.of_label[0][9] = 0.3F;
  Parameters parameters = walking();
  parameters.image.detail = 4;
  const WorkingImage working = working_image(asked(start), parameters);
  ASSERT_EQ(working.seeds->start.size(), 1u);
  const std::vector<float>& reduced = working.seeds->start[0];
  ASSERT_EQ(reduced.size(), 8u);
  EXPECT_FLOAT_EQ(reduced[0], 0.35F);
  EXPECT_FLOAT_EQ(reduced[1], 0.5F);
}

// What the linear systems of such pixels start from, they would keep.
TEST_F(WalkStart, Is0WhereNoSeedIsReached) {
  image_.valid.assign(32, 1);
  for (std::size_t y = 0; y < 4; ++y) image_.valid[y * 8 + 4] = 0;
  seeds_.labels[31] = 0;
  seeds_.labels[2] = 5;
  const Probabilities start = halves(8, 4, 2);
  const WorkingImage working = working_image(asked(start), walking());
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_EQ(working.seeds->start[1][i], i % 8 < 4 ? 0.5F : 0.0F) << i;
  }
}

TEST_F(WalkStart, OfAnotherSizeOrWithMoreLabelsIsRefused) {
  const auto refusal = [&](const Probabilities& start) {
    return message_of<InputError>([&] { working_image(asked(start), walking()); });
  };
  EXPECT_THAT(refusal(halves(8, 5, 2)), AllOf(HasSubstr("8x5"), HasSubstr("8x4")));
  EXPECT_THAT(refusal(halves(8, 4, 3)), AllOf(HasSubstr("3 labels"), HasSubstr("have 2")));
  Probabilities wrong = halves(8, 4, 2);
  wrong.of_label[1][11] = std::nanf("");
  EXPECT_THAT(refusal(wrong), AllOf(HasSubstr("column 3, row 1"), HasSubstr("[0, 1]")));
  wrong.of_label[1].resize(31);
  EXPECT_THAT(refusal(wrong), AllOf(HasSubstr("31"), HasSubstr("32")));
  EXPECT_EQ(refusal(halves(8, 4, 1)), "");
}

TEST_F(WalkStart, IsRefusedWhereNothingHeedsIt) {
  const Probabilities start = halves(8, 4, 2);
  const auto refusal = [&](const ImageToSegment& asked, const Parameters& parameters) {
    return message_of<ConfigError>([&] { working_image(asked, parameters); });
  };
  Parameters cut = walking();
  cut.region.method = RegionMethod::kHierarchy;
  EXPECT_THAT(refusal(asked(start), cut), HasSubstr("region.method"));
}

}  // namespace
}  // namespace diacut::testing
