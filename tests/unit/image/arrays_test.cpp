// The header of .npy files: what is read, and that whatever is not such a header is refused
// without taking memory for it.
//
// Features: what files are read, which features fit a picture, and how they are resized.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/npy.hpp"
#include "diacut/errors.hpp"
#include "diacut/features.hpp"
#include "image/input_checks.hpp"
#include "image_files.hpp"
#include "matchers.hpp"
#include "npz_writer.hpp"
#include "output/npy.hpp"
#include "refusal.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using FileBytes = std::vector<std::uint8_t>;

FileBytes npy(const std::string& header, int major = 1) {
  const std::string file = testing::npy_file(header, "", major);
  return {file.begin(), file.end()};
}

TEST(NpyHeader, ReadsWhatNumPyWrites) {
  const NpyHeader own = parse_npy_header(npy_header<float>({3, 4, 5}));
  EXPECT_EQ(own.type, "<f4");
  EXPECT_EQ(own.kind(), "f4");
  EXPECT_EQ(own.byte_order(), '<');
  EXPECT_FALSE(own.fortran_order);
  EXPECT_THAT(own.shape, ElementsAre(3, 4, 5));
  EXPECT_EQ(own.size, npy_header<float>({3, 4, 5}).size());

  const NpyHeader other =
      parse_npy_header(npy("{\"shape\": (7L ,), 'fortran_order':True,'descr':'>i2'} \n", 2));
  EXPECT_TRUE(other.fortran_order);
  EXPECT_EQ(other.type, ">i2");
  EXPECT_THAT(other.shape, ElementsAre(7));
  EXPECT_TRUE(
      parse_npy_header(npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}")).shape.empty());
}

TEST(NpyHeader, RefusesMoreElementsThanTheFileHolds) {
  NpyHeader header{"<f4", false, {2, 3}, 0};
  EXPECT_EQ(npy_elements(header, 4, 24), 6u);
  EXPECT_THROW(npy_elements(header, 4, 23), InputError);
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  for (const auto& shape : std::vector<std::vector<std::uint64_t>>{
           {kHuge}, {kHuge, kHuge}, {1ULL << 40, 1ULL << 40, 1ULL << 40}, {3, kHuge}}) {
    header.shape = shape;
    EXPECT_THROW(npy_elements(header, 4, 1'000'000), InputError);
  }
}

using ::testing::AllOf;
using testing::expect_refused;
using testing::message_of;

/// Numbers 1, 2, 3... in an array of this shape, C order.
std::vector<std::uint8_t> counted(const std::vector<std::size_t>& shape) {
  std::vector<float> values(
      std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
  std::iota(values.begin(), values.end(), 1.0f);
  return encode_npy<float>(values, shape);
}

class ReadFeatures : public ::testing::Test {
 protected:
  std::string failure(const std::vector<std::uint8_t>& bytes) {
    const std::string path = folder_.write("x.npy", bytes);
    const std::string message = message_of<InputError>([&] { read_features(path); });
    EXPECT_THAT(message, HasSubstr("x.npy"));
    return message;
  }
  testing::TempFolder folder_;
};

TEST_F(ReadFeatures, ReadsArraysOfThreeAndTwoDimensions) {
  const std::string path = folder_.write("x.npy", counted({2, 3, 2}));
  const FeatureSize size = read_feature_size(path);
  EXPECT_EQ(size.width, 3);
  EXPECT_EQ(size.height, 2);
  EXPECT_EQ(size.channels, 2);
  EXPECT_EQ(size.bytes(), 48u);
  const FeatureMap map = read_features(path);
  EXPECT_EQ(map.channels, 2);
  EXPECT_THAT(std::get<0>(map.values), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  const FeatureMap flat = read_features(folder_.write("y.npy", counted({2, 3})));
  EXPECT_EQ(flat.channels, 1);
  EXPECT_THAT(std::get<0>(flat.values), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(ReadFeatures, ReadsFortranOrderAndHalves) {
  std::vector<std::uint8_t> fortran = counted({2, 3, 2});
  const std::string text(fortran.begin(), fortran.end());
  const std::size_t at = text.find("False, 's");
  const std::string mark = "True , ";
  std::copy(mark.begin(), mark.end(), fortran.begin() + static_cast<std::ptrdiff_t>(at));
  // Element (y, x, c) is number y + 2 (x + 3 c), from 1 on.
  EXPECT_THAT(std::get<0>(read_features(folder_.write("x.npy", fortran)).values),
              ElementsAre(1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12));

  std::vector<std::uint8_t> halves = encode_npy<std::uint16_t>(
      std::vector<std::uint16_t>{0x3c00, 0xc000, 0x3800, 0x0001}, {1, 2, 2});
  const std::string name(halves.begin(), halves.end());
  halves[name.find("u2")] = 'f';
  const FeatureMap map = read_features(folder_.write("h.npy", halves));
  EXPECT_EQ(map.size().bytes_per_value, 2);
  EXPECT_THAT(feature_planes(map, 0, 2, {2, 1}),
              ElementsAre(1.0f, 0.5f, -2.0f, std::ldexp(1.0f, -24)));
}

TEST_F(ReadFeatures, RefusesBadFiles) {
  EXPECT_THAT(failure(encode_npy<double>(std::vector<double>{1, 2}, {1, 2, 1})),
              AllOf(HasSubstr("<f8"), HasSubstr("astype")));
  EXPECT_THAT(failure(encode_npy<std::int32_t>(std::vector<std::int32_t>{1, 2}, {1, 2, 1})),
              HasSubstr("<i4"));
  EXPECT_THAT(failure(counted({4})), HasSubstr("(4,)"));
  EXPECT_THAT(failure(counted({1, 2, 2, 1})), HasSubstr("(1, 2, 2, 1)"));
  EXPECT_THAT(failure(counted({3, 2, 0})), HasSubstr("(3, 2, 0)"));
  std::vector<std::uint8_t> cut = counted({3, 2, 4});
  cut.pop_back();
  EXPECT_THAT(failure(cut), HasSubstr("cut off"));
  EXPECT_THAT(failure({'a', 'b', 'c'}), HasSubstr("no .npy file"));
  expect_refused([] { read_features("/nowhere/x.npy"); }, "no such file");
  expect_refused([&] { read_features(folder_ / ""); }, "folder");
}

// 4 PB by its header: refused before memory is taken, by the file's own size.
TEST_F(ReadFeatures, RefusesAHeaderOfAbsurdSize) {
  std::vector<std::uint8_t> bytes = npy_header<float>({1'000'000, 1'000'000, 1'000});
  bytes.resize(bytes.size() + 64);
  EXPECT_THAT(failure(bytes), HasSubstr("cut off"));
  const std::string path = folder_.write("x.npy", bytes);
  expect_refused([&] { read_feature_size(path); }, "cut off");
  EXPECT_THAT(failure(npy_header<float>({5'000'000'000, 1, 1})), HasSubstr("expected 1 to"));
}

TEST_F(ReadFeatures, RefusesBadNumbers) {
  const auto with = [](float value) {
    std::vector<float> values(12, 1.0f);
    values[7] = value;  // Column 0, row 1, channel 1 of 3 x 2 x 2.
    return encode_npy<float>(values, {2, 3, 2});
  };
  const auto place = AllOf(HasSubstr("column 0"), HasSubstr("row 1"), HasSubstr("channel 1"));
  EXPECT_THAT(failure(with(std::numeric_limits<float>::quiet_NaN())), place);
  EXPECT_THAT(failure(with(-std::numeric_limits<float>::infinity())), place);
  EXPECT_THAT(failure(with(2e15f)), place);
  EXPECT_THAT(failure(with(1.0f)), HasSubstr("same at every pixel"));
  EXPECT_NO_THROW(read_features(folder_.write("x.npy", with(1.5f))));
}

TEST(FeatureMap, HasToHoldWhatItsSizeSays) {
  FeatureMap map{2, 1, 1, std::vector<float>{1, 2}};
  EXPECT_NO_THROW(check_features(map));
  map.values = std::vector<float>{1, 2, 3};
  expect_refused([&] { check_features(map); }, "3 values, expected 2");
  map.channels = 0;
  expect_refused([&] { check_features(map); }, "0 channels");
}

TEST(FeaturesFit, SizesThatAFactorExplains) {
  const auto fit = [](int width, int height) {
    return features_fit({width, height, 1, 4}, 481, 321);
  };
  EXPECT_TRUE(fit(481, 321));
  EXPECT_TRUE(fit(241, 161));  // Halved, rounded up.
  EXPECT_TRUE(fit(240, 160));  // Halved, rounded down.
  EXPECT_TRUE(fit(34, 22));    // Patches of 14 pixels.
  EXPECT_TRUE(fit(35, 23));
  EXPECT_FALSE(fit(321, 481));
  EXPECT_FALSE(fit(240, 240));
  EXPECT_FALSE(fit(240, 150));
  EXPECT_FALSE(fit(482, 321));
  EXPECT_FALSE(fit(962, 642));
}

TEST(FeaturePlanes, AreInterpolatedAndAveraged) {
  const FeatureMap map{4, 2, 2, std::vector<float>{0, 8, 1, 8, 2, 8, 3, 8, 0, 8, 1, 8, 2, 8, 3, 8}};
  EXPECT_THAT(feature_planes(map, 0, 1, {4, 2}), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(feature_planes(map, 0, 2, {2, 1}), ElementsAre(0.5f, 2.5f, 8, 8));
  const std::vector<float> larger = feature_planes(map, 0, 1, {8, 2});
  EXPECT_FLOAT_EQ(larger[1], 0.25f);  // Centres of pixels: (1 + 1/2) / 2 - 1/2.
  EXPECT_FLOAT_EQ(larger[2], 0.75f);
  EXPECT_THAT(feature_planes(map, 1, 1, {8, 2}), ::testing::Each(8.0f));
}

}  // namespace
}  // namespace diacut
