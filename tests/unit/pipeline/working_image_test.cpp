// Probabilities that a random walk starts from: what files are read, and what fits an image.
#include "pipeline/working_image.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "diacut/seeds.hpp"
#include "drawn_image.hpp"
#include "image_files.hpp"
#include "matchers.hpp"
#include "output/npy.hpp"
#include "refusal.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

Parameters with_detail(int side) {
  Parameters parameters;
  parameters.image.detail = side;
  return parameters;
}

TEST(WorkingImage, IsReducedBeyondTheSizeOfDetail) {
  const Image image = grey_image(64, 40, 0.5F);
  for (const int side : {0, 64, 640}) {
    const WorkingImage working = working_image(image, with_detail(side));
    EXPECT_EQ(working.image.get(), &image);
    EXPECT_FALSE(working.boundary_map);
    EXPECT_FALSE(working.full);
  }
  // The detail is at most twice the working size.
  for (const auto& [side, height, detail] : {std::tuple(32, 20, 64), {16, 10, 32}}) {
    const WorkingImage working = working_image(image, with_detail(side));
    EXPECT_EQ(working.size(), (PictureSize{side, height}));
    ASSERT_TRUE(working.full);
    EXPECT_EQ(working.full->size, (PictureSize{64, 40}));
    EXPECT_EQ(working.full->detail.width, detail);
  }
}

TEST(WorkingImage, ReducesABoundaryMapByItsMaximum) {
  const Image image = grey_image(8, 4, 0.5F);
  BoundaryMap map{8, 4, std::vector<float>(32, 0.0F)};
  for (std::size_t y = 0; y < 4; ++y) map.strength[y * 8 + 5] = 0.75F;
  const auto reduced = [&] { return working_image({image, &map}, with_detail(4)); };
  ASSERT_TRUE(reduced().boundary_map);
  EXPECT_THAT(reduced().boundary_map->strength, ElementsAre(0, 0, 0.75F, 0, 0, 0, 0.75F, 0));
  for (const float bad : {-0.1F, 1.1F, std::nanf("")}) {
    map.strength[9] = bad;
    expect_refused(reduced, "from 0 to 1");
  }
  map = {4, 2, std::vector<float>(8, 0.0F)};
  expect_refused(reduced, "4x2");
}

TEST(WorkingParameters, TheNetworkSeesThreeQuartersOfTheDetail) {
  struct Case {
    Parameters parameters;
    PictureSize size;
    double scale;
  };
  // Photographs of the size that the network learned from are seen as they are.
  for (const auto& [parameters, size, scale] : {Case{{}, {481, 321}, 1},
                                                {{}, {100, 50}, 1},
                                                {{}, {640, 480}, 481.0 / 640},
                                                {{}, {400, 600}, 481.0 / 600},
                                                {with_detail(0), {4000, 3000}, 1}}) {
    EXPECT_THAT(working_parameters(parameters, size, size, {}).boundary.scales,
                ElementsAre(DoubleNear(0.5 * scale, 1e-9), DoubleNear(scale, 1e-9)));
  }
}

TEST(WorkingParameters, ContoursAreMadeAsTheSourceOfBoundariesNeedsUntilThatIsChosen) {
  const PictureSize size{64, 48};
  const auto made = [&](const Parameters& parameters, bool own_map = false) {
    const ContourParameters found =
        working_parameters(parameters, size, size, {own_map}).contour_decided;
    return std::tuple(found.boundary_weight, found.spectral_weight, found.spectral_power,
                      found.spectral_scale);
  };
  const auto fitted = [](BoundarySource source, SpectralUse spectral = SpectralUse::kDecimated) {
    const ContourParameters found = contour_parameters({spectral}, source);
    return std::tuple(found.boundary_weight, found.spectral_weight, found.spectral_power,
                      found.spectral_scale);
  };
  Parameters gradient;
  gradient.boundary.kind = BoundaryKind::kGradient;
  EXPECT_EQ(made({}), fitted(BoundarySource::kNetwork));
  EXPECT_EQ(made(gradient), fitted(BoundarySource::kGradient));
  EXPECT_EQ(made({}, true), fitted(BoundarySource::kMap));
  EXPECT_EQ(made(gradient, true), fitted(BoundarySource::kMap));
  // The eigenvectors say more where no network says what a boundary is.
  EXPECT_GT(std::get<1>(made(gradient)), std::get<1>(made({})));
  gradient.contour.spectral_weight = 0.125;
  EXPECT_EQ(std::get<1>(made(gradient)), 0.125);
  EXPECT_EQ(std::get<0>(made(gradient)), std::get<0>(fitted(BoundarySource::kGradient)));
  // Without eigenvectors strengths stay what they are.
  gradient.contour = {SpectralUse::kNever};
  EXPECT_EQ(std::get<0>(made(gradient)), std::get<0>(fitted(BoundarySource::kNetwork)));
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

TEST(ReadProbabilities, RefusesOtherFiles) {
  const TempFolder folder;
  const std::vector<float> half(12, 0.5F);
  const std::vector<double> wide(12, 0.5);
  std::vector<std::uint8_t> cut = encode_npy<float>(half, {1, 4, 3});
  cut.resize(cut.size() - 4);
  for (const auto& [bytes, told, expected] :
       {std::tuple(encode_npy<float>(half, {4, 3}), "(4, 3)", "(labels, height, width)"),
        {encode_npy<float>(std::vector<float>{}, {0, 4, 3}), "(0, 4, 3)", ""},
        {encode_npy<double>(wide, {1, 4, 3}), "<f8", "float32"},
        {cut, "cut off", ""},
        {{'P', '5'}, "no .npy file", ""}}) {
    const std::string path = folder.write("p.npy", bytes);
    EXPECT_THAT(message_of<InputError>([&] { read_probabilities(path); }),
                AllOf(HasSubstr("p.npy"), HasSubstr(told), HasSubstr(expected)));
  }
}

Probabilities halves(int width, int height, int labels) {
  const std::vector<float> each(static_cast<std::size_t>(width * height), 0.5F);
  return {width, height, std::vector(static_cast<std::size_t>(labels), each)};
}

class WalkStart : public ::testing::Test {
 protected:
  WalkStart() {
    seeds_.labels[0] = 1;
    seeds_.labels[31] = 5;
  }
  /// At the image's own size, or at a smaller one.
  WorkingImage started(const Probabilities& start, int detail = 8,
                       RegionMethod method = RegionMethod::kWalker) const {
    Parameters parameters = with_detail(detail);
    parameters.region.method = method;
    SeededImage asked(image_, seeds_);
    asked.start = &start;
    return working_image(asked, parameters);
  }
  Image image_ = grey_image(8, 4, 0.5F);
  Seeds seeds_{8, 4, std::vector<std::int32_t>(32, 0)};
};

TEST_F(WalkStart, IsWhatIsGivenAndTheMeanInAReduction) {
  Probabilities start = halves(8, 4, 2);
  start.of_label[0][0] = 0.1F;
  start.of_label[0][9] = 0.3F;
  const WorkingImage working = started(start);
  ASSERT_TRUE(working.seeds);
  EXPECT_EQ(working.seeds->start, start.of_label);
  const std::vector<std::vector<float>> reduced = started(start, 4).seeds->start;
  ASSERT_EQ(reduced.size(), 2u);
  ASSERT_EQ(reduced[0].size(), 8u);
  EXPECT_FLOAT_EQ(reduced[0][0], 0.35F);
  EXPECT_FLOAT_EQ(reduced[0][1], 0.5F);
}

// What the linear systems of such pixels start from, they would keep.
TEST_F(WalkStart, Is0WhereNoSeedIsReached) {
  image_.valid.assign(32, 1);
  for (std::size_t y = 0; y < 4; ++y) image_.valid[y * 8 + 4] = 0;
  seeds_.labels[31] = 0;
  seeds_.labels[2] = 5;
  const Probabilities start = halves(8, 4, 2);
  const WorkingImage working = started(start);
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_EQ(working.seeds->start[1][i], i % 8 < 4 ? 0.5F : 0.0F) << i;
  }
}

TEST_F(WalkStart, OfAnotherSizeOrWithMoreLabelsIsRefused) {
  Probabilities cut = halves(8, 4, 2);
  cut.of_label[1].resize(31);
  expect_refused([&] { started(halves(8, 5, 2)); }, "8x5 pixels, the image 8x4");
  expect_refused([&] { started(halves(8, 4, 3)); }, "3 labels, but the seeds have 2");
  expect_refused([&] { started(cut); }, "31 numbers of a label, expected 32");
  for (const float wrong : {-0.125F, 1.5F, std::nanf(""), INFINITY}) {
    Probabilities start = halves(8, 4, 2);
    start.of_label[1][11] = wrong;
    expect_refused([&] { started(start); }, "at column 3, row 1: expected numbers in [0, 1]");
  }
  EXPECT_NO_THROW(started(halves(8, 4, 1)));
  expect_refused<ConfigError>([&] { started(halves(8, 4, 2), 8, RegionMethod::kHierarchy); },
                              "region.method");
}

}  // namespace
}  // namespace diacut::testing
