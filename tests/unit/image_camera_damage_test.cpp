#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>

#include "camera_files.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"

/// Damaged files of cameras' formats: an InputError or a whole picture, never a crash. Nothing is
/// printed but by libjxl and dav1d, which Debian builds so that they tell of damage themselves.
namespace diacut {
namespace {

using ::testing::AllOf;
using testing::FileBytes;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::map<std::string, FileBytes> whole_files() {
  const cv::Mat colour = testing::random_samples(41, 29, CV_8UC3);
  const cv::Mat deep = testing::random_samples(41, 29, CV_16UC3);
  std::map<std::string, FileBytes> files;
  files["a.heic"] =
      testing::write_heif({.profile = testing::adobe_rgb_profile(), .pictures = {colour}});
  files["a.avif"] = testing::write_heif({.is_avif = true, .pictures = {colour}});
  files["a.jxl"] = testing::write_jxl({.frames = {colour}});
  files["lossy.jxl"] = testing::write_jxl({.is_lossy = true, .frames = {deep}});
  files["a.jp2"] = testing::write_jpeg2000(colour);
  files["a.j2k"] = testing::write_jpeg2000(deep, 16, true);
  files["a.gif"] = testing::write_gif(
      41, 29, {0, 0xff, 0xff00, 0xffffff},
      {{.at = {0, 0, 41, 29}, .indices = testing::random_samples(41, 29, CV_8UC1) & 3}});
  files["a.dng"] = testing::write_dng(testing::random_samples(64, 48, CV_16UC3));
  const std::string header = "P6 41 29 255\n";
  files["a.ppm"].assign(header.begin(), header.end());
  files["a.ppm"].insert(files["a.ppm"].end(), colour.data, colour.data + 41 * 29 * 3);
  testing::TiffPage packed;
  packed.width = 41;
  packed.height = 29;
  packed.bits = 12;
  packed.rows_per_strip = 29;
  packed.samples.assign(62 * 29, 0x5a);
  files["12.tif"] = testing::write_tiff({packed});
  return files;
}

/// What is said of the file; empty if it is read.
std::string refusal(const FileBytes& file, const std::string& name) {
  try {
    testing::expect_well_formed(decode_image(file, name));
    return "";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith(name + ": "));
    return error.what();
  }
}

TEST(DamagedCameraFile, WholeFilesAreRead) {
  for (const auto& [name, file] : whole_files()) EXPECT_EQ(refusal(file, name), "");
}

TEST(DamagedCameraFile, CutFilesAreRefusedAtTenPlaces) {
  ::testing::internal::CaptureStderr();
  for (const auto& [name, file] : whole_files()) {
    for (std::size_t tenth = 1; tenth < 10; ++tenth) {
      const FileBytes cut(file.begin(),
                          file.begin() + static_cast<std::ptrdiff_t>(file.size() * tenth / 10));
      EXPECT_NE(refusal(cut, name), "") << name << ", " << tenth << " tenths";
    }
    // The last bytes of a DNG are of tags that tell nothing of the picture.
    if (name == "a.dng") continue;
    EXPECT_NE(refusal(FileBytes(file.begin(), file.end() - 20), name), "") << name << ", end";
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(DamagedCameraFile, ChangedBytesNeverCrash) {
  std::mt19937_64 generator(20261123);
  ImageParameters parameters;
  parameters.max_pixels = 1 << 20;
  for (const auto& [name, file] : whole_files()) {
    ::testing::internal::CaptureStderr();
    for (int trial = 0; trial < 60; ++trial) {
      const FileBytes damaged = testing::with_changed_bytes(file, 400, generator);
      try {
        testing::expect_well_formed(decode_image(damaged, name, parameters));
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), StartsWith(name + ": "));
      }
    }
    const std::string printed = ::testing::internal::GetCapturedStderr();
    if (name.ends_with(".jxl") || name.ends_with(".avif")) continue;
    EXPECT_EQ(printed, "") << name;
  }
}

TEST(DamagedCameraFile, SizesAreHeldAgainstTheLimitBeforeMemoryIsTaken) {
  const auto start = std::chrono::steady_clock::now();
  for (const auto& [name, file] : whole_files()) {
    ImageParameters parameters;
    parameters.max_pixels = 1000;
    try {
      decode_image(file, name, parameters);
      ADD_FAILURE() << name << " is accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), AllOf(StartsWith(name + ": "), HasSubstr("limit of 1000")));
    }
  }
  const std::string claim = "P6 100000 100000 65535\n";
  EXPECT_THAT(refusal(FileBytes(claim.begin(), claim.end()), "bomb.ppm"),
              HasSubstr("100000 x 100000 pixels"));
  FileBytes gif = whole_files().at("a.gif");
  std::fill(gif.begin() + 6, gif.begin() + 10, std::uint8_t{0xff});
  EXPECT_THAT(refusal(gif, "bomb.gif"), HasSubstr("65535 x 65535 pixels"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace diacut
