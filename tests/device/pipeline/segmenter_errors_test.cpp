#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "diacut/segmenter.hpp"
#include "label_checks.hpp"
#include "matchers.hpp"
#include "support.hpp"
#include "temp_folder.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

/// The message of the error of type E that segmenting `image` throws.
template <class E>
std::string error_of(Segmenter& segmenter, const Image& image, const Watch& watch = {}) {
  return message_of<E>([&] { segmenter.segment(image, watch); });
}

TEST(SegmenterErrors, RefusesImagesThatBreakTheContract) {
  Segmenter segmenter = keeping_eigenvectors();
  Image hidden = flat_image(5, 4, 1, 0.5f);
  hidden.valid.assign(20, 0);
  EXPECT_THAT(error_of<InputError>(segmenter, hidden), HasSubstr("no pixel of the image has data"));
  EXPECT_THAT(error_of<InputError>(segmenter, Image{}), HasSubstr("size is 0x0"));
  EXPECT_THAT(error_of<InputError>(segmenter, flat_image(5, 4, 2, 0)), HasSubstr("2 channels"));
  Image cut = flat_image(5, 4, 3, 0);
  cut.pixels.pop_back();
  EXPECT_THAT(error_of<InputError>(segmenter, cut), HasSubstr("59 values, expected 60"));
  Image mask = flat_image(5, 4, 3, 0);
  mask.valid.assign(3, 1);
  EXPECT_THAT(error_of<InputError>(segmenter, mask), HasSubstr("mask holds 3"));
  for (float value : {std::nanf(""), INFINITY, -0.1f, 1.5f}) {
    Image bad = flat_image(5, 4, 1, 0.5f);
    bad.pixels[7] = value;
    EXPECT_THAT(error_of<InputError>(segmenter, bad), HasSubstr("from 0 to 1")) << value;
  }
  expect_labels_contract(segmenter.segment(flat_image(5, 4, 1, 0.5f)).labels, 5, 4);
}

TEST(SegmenterErrors, RefusesMoreRegionsThanPixels) {
  Parameters parameters;
  parameters.region.regions = 21;
  Segmenter segmenter = keeping_eigenvectors(parameters);
  EXPECT_THAT(error_of<ConfigError>(segmenter, flat_image(5, 4, 1, 0.5f)),
              AllOf(HasSubstr("region.regions is 21"), HasSubstr("20 pixels")));
  Image masked = flat_image(6, 4, 1, 0.5f);
  masked.valid.assign(24, 1);
  std::fill_n(masked.valid.begin(), 4, std::uint8_t{0});
  EXPECT_THAT(error_of<ConfigError>(segmenter, masked), HasSubstr("at most 20 regions"));
}

TEST(SegmenterErrors, RefusesParametersDevicesAndFoldersThatMakeNoSense) {
  Parameters parameters;
  parameters.affinity.radius = 0;
  EXPECT_THROW(Segmenter(parameters, test_device()), ConfigError);
  EXPECT_THROW(Segmenter({}, "no such device"), ConfigError);
  EXPECT_THROW(Segmenter({}, test_device(), "/nonexistent/kernels"), ConfigError);
}

TEST(SegmenterErrors, StopsWhenCancelledAndGoesOnAfterwards) {
  const Image image = two_discs(64, 48);
  Segmenter segmenter = keeping_eigenvectors();
  const HierarchyCut before = segmenter.segment(image);

  CancelToken token;
  token.cancel();
  Watch watch;
  watch.cancel = &token;
  EXPECT_EQ(error_of<CancelledError>(segmenter, image, watch), "interrupted");

  for (const char* stage : {"boundaries", "affinity", "eigenvectors", "contours", "regions"}) {
    CancelToken later;
    std::set<std::string> seen;
    watch.cancel = &later;
    watch.progress = [&](std::string_view now, double) {
      seen.emplace(now);
      if (now == stage) later.cancel();
    };
    EXPECT_THAT(error_of<CancelledError>(segmenter, image, watch), HasSubstr("interrupted"));
    EXPECT_TRUE(seen.contains(stage));
    EXPECT_EQ(seen.contains("regions"), std::string(stage) == "regions");
  }
  expect_same(before, segmenter.segment(image));
}

TEST(SegmenterErrors, NamesTheLargestImageThatFitsTheMemory) {
  const Image image = two_discs(120, 80);
  Segmenter segmenter = keeping_eigenvectors(direct_cuts());
  const std::uint64_t limit = 2 << 20;
  segmenter.limit_device_memory(limit);
  const auto error = [&](const Image& asked) {
    return message_of<DeviceError>([&] { segmenter.cut(asked); });
  };
  const std::string message = error(image);
  EXPECT_THAT(message, AllOf(HasSubstr("not enough device memory"), HasSubstr("megapixels (")));

  // An image of the size that the message names fits; one with half as many pixels more does not.
  int width = 0;
  int height = 0;
  const std::size_t at = message.find("megapixels (");
  ASSERT_EQ(std::sscanf(message.c_str() + at, "megapixels (%dx%d)", &width, &height), 2);
  EXPECT_LE(segmenter.cut(two_discs(width, height)).costs.device_peak_bytes, limit);
  EXPECT_NE(error(two_discs(width * 3 / 2, height)), "");

  segmenter.limit_device_memory(16);
  EXPECT_THAT(error(image), HasSubstr("no image fits"));
  segmenter.limit_device_memory(0);
  expect_discs_found(segmenter.cut(image).labels);
}

TEST(SegmenterErrors, ShowsTheBuildLogOfABrokenKernelOfAFolderAndRecovers) {
  const TempFolder folder;
  std::filesystem::copy(DIACUT_SOURCE_DIR "/kernels", folder.path(),
                        std::filesystem::copy_options::recursive);
  Segmenter segmenter({}, test_device(), folder.path().string());
  segmenter.keep_eigenvectors(true);
  const Image image = two_discs(64, 48);
  std::map<std::filesystem::path, std::uintmax_t> sizes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_directory()) continue;
    sizes[entry.path()] = entry.file_size();
    std::ofstream(entry.path(), std::ios::app) << "\nthis_is_no_type x = undeclared_thing;\n";
  }
  try {
    segmenter.segment(image);
    FAIL() << "no error was thrown";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.build_log(), HasSubstr("this_is_no_type"));
    EXPECT_THAT(error.what(), AllOf(HasSubstr("does not build"), HasSubstr(error.build_log())));
  }
  for (const auto& [path, size] : sizes) std::filesystem::resize_file(path, size);
  expect_discs_found(segmenter.segment(image).labels);
}

}  // namespace
}  // namespace diacut::testing
