#include <gtest/gtest.h>

#include <map>
#include <opencv2/core.hpp>
#include <string>

#include "decoded_image.hpp"
#include "diacut/boundary_map.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/seeds.hpp"
#include "matchers.hpp"
#include "temp_folder.hpp"
#include "whole_files.hpp"

/// Images that are decoded in a sandbox. The tests of the Python package see that a program does
/// it, in processes that have threads.
namespace diacut::testing {
namespace {

ImageParameters untrusted() { return {.untrusted = true}; }

/// What is said of a file.
std::string refusal(const FileBytes& file, const ImageParameters& parameters,
                    const ImagePart& part = {}) {
  return message_of<InputError>([&] { decode_image(file, "a", parameters, part); });
}

TEST(UntrustedImage, IsReadAsATrustedOne) {
  std::map<std::string, FileBytes> files = testing::whole_files();
  files.merge(testing::whole_camera_files());
  ASSERT_GT(files.size(), 30U);
  for (const auto& [name, file] : files) {
    SCOPED_TRACE(name);
    const Image trusted = decode_image(file, name);
    const Image image = decode_image(file, name, untrusted());
    expect_same(image, trusted);
    EXPECT_EQ(image.pixels, trusted.pixels);
    EXPECT_EQ(image.notes, trusted.notes);
  }
}

TEST(UntrustedImage, IsRefusedWithTheSameWords) {
  for (const auto& [name, file] : testing::whole_files()) {
    const FileBytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.size() / 2));
    EXPECT_EQ(refusal(cut, untrusted()), refusal(cut, {})) << name;
  }
  const FileBytes file = testing::whole_files().at("8.png");
  EXPECT_EQ(refusal(file, untrusted(), {2, ""}), refusal(file, {}, {2, ""}));
  EXPECT_EQ(refusal(file, untrusted(), {1, "9"}), refusal(file, {}, {1, "9"}));
  EXPECT_THAT(refusal(file, {.max_pixels = 100, .untrusted = true}), HasSubstr("max_pixels"));
}

TEST(UntrustedImage, IsRefusedByASizeThatIsNotAccepted) {
  const FileBytes file = testing::whole_files().at("colour.jpg");
  const auto no = [](const ImageSize& size) {
    EXPECT_EQ(size.width, 41);
    EXPECT_EQ(size.height, 29);
    throw DeviceMemoryError("too large");
  };
  EXPECT_THROW(decode_image(file, "a", untrusted(), {}, no), DeviceMemoryError);
  EXPECT_EQ(decode_image(file, "a", untrusted()).width, 41);
}

TEST(UntrustedImage, IsBoundInMemory) {
  // 16,000 x 16,000 pixels of 8 bits that compress to almost nothing.
  const cv::Mat plain(16'000, 16'000, CV_8UC1, cv::Scalar(128));
  EXPECT_THAT(refusal(testing::encode(".png", plain), {.untrusted = true, .decoding_memory = 128}),
              HasSubstr("memory"));
}

TEST(UntrustedImage, OtherFilesBesideItAreReadSo) {
  const testing::TempFolder folder;
  cv::Mat grey(4, 5, CV_8UC1, cv::Scalar(0));
  grey.at<std::uint8_t>(1, 1) = 1;
  grey.at<std::uint8_t>(2, 3) = 2;
  const std::string path = folder.write("a.png", testing::encode(".png", grey));
  EXPECT_EQ(read_boundary_map(path, untrusted()).strength, read_boundary_map(path).strength);
  EXPECT_EQ(read_seeds(path, untrusted()).labels, read_seeds(path).labels);
  EXPECT_EQ(read_barriers(path, untrusted()).pixels, read_barriers(path).pixels);
  EXPECT_EQ(count_pages(path, untrusted()), 1);
  EXPECT_EQ(read_image(path, untrusted()).pixels, read_image(path).pixels);
  EXPECT_EQ(ImageFile(path).read(untrusted(), {}).pixels, read_image(path).pixels);
}

TEST(UntrustedImage, DrawingsOfSeedsAndBarriersAreRefused) {
  const testing::TempFolder folder;
  const std::string text =
      R"({"type": "Feature", "properties": {"label": 3},
          "geometry": {"type": "Point", "coordinates": [1.5, 2.5]}})";
  const std::string path = folder.write("a.geojson", {text.begin(), text.end()});
  EXPECT_EQ(read_seeds(path, {}, 4, 5).labels[2 * 4 + 1], 3);
  EXPECT_EQ(read_barriers(path, {}, 4, 5).pixels[2 * 4 + 1], 1);
  const auto is_named = AllOf(HasSubstr(path), HasSubstr("--untrusted"), HasSubstr("PNG"));
  EXPECT_THAT(message_of<InputError>([&] { read_seeds(path, untrusted(), 4, 5); }), is_named);
  EXPECT_THAT(message_of<InputError>([&] { read_barriers(path, untrusted(), 4, 5); }), is_named);
}

}  // namespace
}  // namespace diacut::testing
