#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "temp_folder.hpp"
#include "whole_files.hpp"

/// Damaged files of cameras' formats: an InputError or a whole picture, never a crash. Nothing is
/// printed but by libjxl and dav1d, which Debian builds so that they tell of damage themselves.
namespace diacut {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using testing::FileBytes;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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
  for (const auto& [name, file] : testing::whole_camera_files()) EXPECT_EQ(refusal(file, name), "");
}

TEST(DamagedCameraFile, CutFilesAreRefusedAtTenPlaces) {
  ::testing::internal::CaptureStderr();
  for (const auto& [name, file] : testing::whole_camera_files()) {
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
  for (const auto& [name, file] : testing::whole_camera_files()) {
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

TEST(DamagedCameraFile, ACodedPictureMuchLargerThanTheIndexSaysIsRefused) {
  const std::string file = testing::read_bytes(std::string(DIACUT_SOURCE_DIR) +
                                               "/tests/fuzz/found/heif/large_coded_picture.heic");
  EXPECT_THAT(refusal(FileBytes(file.begin(), file.end()), "a.heic"),
              AllOf(AnyOf(HasSubstr("16392x8200"),
                          HasSubstr("cannot be decoded")),  // By a newer libheif, before that.
                    Not(HasSubstr("\n"))));
}

TEST(DamagedCameraFile, SizesAreHeldAgainstTheLimitBeforeMemoryIsTaken) {
  const auto start = std::chrono::steady_clock::now();
  for (const auto& [name, file] : testing::whole_camera_files()) {
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
  FileBytes gif = testing::whole_camera_files().at("a.gif");
  std::fill(gif.begin() + 6, gif.begin() + 10, std::uint8_t{0xff});
  EXPECT_THAT(refusal(gif, "bomb.gif"), HasSubstr("65535 x 65535 pixels"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace diacut
