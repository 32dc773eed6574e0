#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "camera_files.hpp"
#include "spoilt.hpp"

namespace diacut::fuzz {
namespace {

using testing::random_samples;

FileBytes cut_off(const FileBytes& file, double share) {
  const auto size = static_cast<std::ptrdiff_t>(share * static_cast<double>(file.size()));
  return {file.begin(), file.begin() + size};
}

/// Where a text begins in a file.
std::size_t place_of(const FileBytes& file, const std::string& text) {
  const FileBytes bytes = bytes_of(text);
  const auto at = std::search(file.begin(), file.end(), bytes.begin(), bytes.end());
  if (at == file.end()) throw std::logic_error(fmt::format("the file has no '{}'", text));
  return static_cast<std::size_t>(at - file.begin());
}

FileBytes with(FileBytes file, std::size_t at, std::uint8_t byte) {
  file.at(at) = byte;
  return file;
}

FileBytes lossless_webp(int width, int height) {
  return testing::encode(".webp", random_samples(width, height, CV_8UC3),
                         {cv::IMWRITE_WEBP_QUALITY, 101});
}

testing::TiffPage linear_page() {
  const cv::Mat light = random_samples(64, 48, CV_16UC3);
  testing::TiffPage page = testing::dng_page(light);
  const auto set_tags = page.set_tags;
  page.photometric = 34892;  // Linear raw: three samples for each pixel.
  page.samples_per_pixel = 3;
  page.samples.assign(light.data, light.data + light.total() * light.elemSize());
  page.set_tags = set_tags;
  return page;
}

/// A TIFF file of directories alone, each entry with a tag, a type, a count and a value.
FileBytes directories(const std::vector<std::array<std::uint32_t, 4>>& entries) {
  std::string file("II*\0\x08\0\0\0", 8);
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int k = 0; k < bytes; ++k) file += static_cast<char>(value >> (8 * k) & 255);
  };
  put(static_cast<std::uint32_t>(entries.size()), 2);
  for (const auto& [tag, type, count, value] : entries) {
    put(tag, 2);
    put(type, 2);
    put(count, 4);
    put(value, 4);
  }
  put(0, 4);
  return bytes_of(file);
}

std::vector<FileBytes> more_tiffs() {
  std::vector<FileBytes> files;
  for (const char* mode : {"wb", "w8"}) {
    testing::TiffPage page = testing::tiff_page(random_samples(9, 7, CV_16SC1));
    page.sample_format = 2;
    page.orientation = 5;
    testing::TiffPage separate = testing::tiff_page(random_samples(9, 7, CV_8UC4));
    separate.is_separate = true;
    separate.extra_samples = {1};
    files.push_back(testing::write_tiff({page, separate}, mode));
  }
  return files;
}

std::vector<FileBytes> more_pnms() {
  std::vector<FileBytes> files;
  const std::string bytes(36, '\xda');
  for (const char* header : {"P5 3 2 65535\n", "P4 9 5\n", "P6\n# a comment\n2 2 255\n",
                             "P7\nWIDTH 2\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\n"
                             "TUPLTYPE RGB_ALPHA\nENDHDR\n"}) {
    files.push_back(bytes_of(header + bytes));
  }
  files.push_back(bytes_of("P2 3 2 15\n1 2 3 4 5 15\n"));
  files.push_back(bytes_of("P3 1 2 255\n1 2 3 4 5 6\n"));
  files.push_back(bytes_of("P1 3 2\n1 0 1\n0 1 1\n"));
  return files;
}

std::vector<FileBytes> more_heifs() {
  std::vector<FileBytes> files;
  const cv::Mat deep = random_samples(8, 8, CV_16UC3) / 64;
  const cv::Mat alpha = random_samples(8, 8, CV_8UC4);
  files.push_back(
      testing::write_heif({.bits = 10, .orientation = 6, .primaries = 12, .pictures = {deep}}));
  files.push_back(testing::write_heif({.pictures = {alpha, alpha}}));
  return files;
}

std::vector<FileBytes> more_gifs() {
  return {testing::stored_file("plain.gif"), testing::stored_file("frames.gif")};
}

std::vector<FileBytes> more_webps() {
  const FileBytes simple = lossless_webp(9, 7);
  // The smallest file that there is: one pixel, of which each part has a code of no bits.
  const FileBytes smallest =
      bytes_of(std::string("RIFF\x14\0\0\0WEBPVP8L\x08\0\0\0\x2f\0\0\0\0\x88\x88\x08", 28));
  return {smallest, testing::webp_with(simple, 9, 7, {.profile = testing::srgb_profile()}),
          testing::encode(".webp", random_samples(9, 7, CV_8UC4))};
}

std::vector<SpoiltFile> spoilt_webps() {
  const FileBytes simple = lossless_webp(9, 7);
  const FileBytes extended = testing::webp_with(simple, 9, 7, {.profile = testing::srgb_profile()});
  constexpr std::size_t kFlags = 20;
  FileBytes nothing = bytes_of(std::string("RIFF\x08\0\0\0WEBPVP8X", 16));
  return {cut_off(simple, 0.5),
          {with(extended, kFlags, 2 | extended[kFlags]), "animated"},
          with(simple, place_of(simple, "VP8L"), 'W'),
          with(extended, place_of(extended, "ICCP") + 6, 1),
          with(simple, place_of(simple, "VP8L") + 8, 0),
          with(extended, 24, 200),
          nothing};
}

std::vector<FileBytes> more_jxls() {
  const cv::Mat frame = random_samples(8, 6, CV_8UC4);
  return {testing::write_jxl({.orientation = 3, .frames = {frame, frame}}),
          testing::write_jxl({.profile = testing::adobe_rgb_profile(),
                              .frames = {random_samples(8, 6, CV_32FC3)}}),
          testing::write_jxl({.frames = {random_samples(8, 6, CV_16UC1)}}),
          testing::write_jxl({.frames = {random_samples(8, 6, CV_8UC2)}, .is_premultiplied = true}),
          testing::write_jxl({.frames = {random_samples(8, 6, CV_8UC3)}, .depth_channels = 2})};
}

std::vector<SpoiltFile> spoilt_jxls() {
  const FileBytes whole = testing::write_jxl({.frames = {random_samples(18, 16, CV_8UC3)}});
  FileBytes damaged = whole;
  std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(damaged.size() / 3), damaged.end(), 0xff);
  return {cut_off(whole, 0.1), cut_off(whole, 0.5), damaged,
          testing::write_jxl({.frames = {random_samples(8, 6, CV_8UC3)}, .depth_channels = 17})};
}

std::vector<FileBytes> more_jpeg2000s() {
  const cv::Mat deep = random_samples(10, 8, CV_16UC3) / 17;
  const FileBytes twelve = testing::write_jpeg2000({.samples = deep, .bits = 12});
  cv::Mat negative;
  random_samples(10, 8, CV_8UC1).convertTo(negative, CV_16S, 1, -128);
  constexpr std::uint8_t kLumaAndChroma = 18;
  const FileBytes small_chroma = testing::stored_file("small_chroma.jp2");
  const auto container = static_cast<std::ptrdiff_t>(place_of(small_chroma, "\xff\x4f\xff\x51"));
  return {small_chroma,
          {small_chroma.begin() + container, small_chroma.end()},
          with(twelve, place_of(twelve, "colr") + 10, kLumaAndChroma),
          testing::write_jpeg2000({.samples = random_samples(10, 8, CV_8UC4)}),
          testing::write_jpeg2000({.samples = random_samples(10, 8, CV_16UC2)}),
          testing::write_jpeg2000({.samples = negative}),
          testing::write_jpeg2000(
              {.samples = random_samples(9, 7, CV_8UC3), .profile = testing::adobe_rgb_profile()})};
}

std::vector<SpoiltFile> spoilt_jpeg2000s() {
  const cv::Mat colour = random_samples(10, 8, CV_8UC3);
  const FileBytes whole = testing::write_jpeg2000({.samples = colour});
  const FileBytes bare = testing::write_jpeg2000({.samples = colour, .is_bare = true});
  cv::Mat deep;
  random_samples(10, 8, CV_16UC1).convertTo(deep, CV_32S);
  const std::size_t colours = place_of(whole, "colr");
  const std::size_t size = place_of(bare, "\xff\x51");
  constexpr std::size_t kCmyk = 12;
  return {cut_off(whole, 0.2),
          cut_off(whole, 0.7),
          cut_off(bare, 0.1),
          with(whole, colours + 10, kCmyk),
          with(bare, size + 40 + 3, 6),  // The second component is of another depth.
          with(bare, size + 40 + 1, 0),  // The first has no distance between its samples.
          testing::write_jpeg2000({.samples = random_samples(10, 8, CV_8UC(5))}),
          testing::write_jpeg2000({.samples = deep, .bits = 20})};
}

std::vector<FileBytes> more_raws() {
  const testing::TiffPage page = testing::dng_page(random_samples(64, 48, CV_16UC3));
  return {testing::write_tiff({page}, "wb"), testing::write_tiff({linear_page()}),
          testing::write_tiff({page, page}),
          // This one is left to the reader of TIFF.
          testing::write_tiff({testing::tiff_page(random_samples(9, 7, CV_8UC1))})};
}

std::vector<SpoiltFile> spoilt_raws() {
  const FileBytes whole = testing::write_dng(random_samples(64, 48, CV_16UC3));
  enum Tag : std::uint32_t { kPhotometric = 262, kSubDirectories = 330, kDngVersion = 50706 };
  constexpr std::uint32_t kFilters = 32803;
  // Where its samples are: type, count, place.
  const std::size_t offset = place_of(whole, std::string("\x11\x01\x04\0\x01\0\0\0", 8)) + 8;
  return {with(whole, offset + 1, 0xf0), with(whole, offset + 3, 0x10),
          testing::write_dng(random_samples(24, 16, CV_16UC3)),  // LibRaw reads none so small.
          directories({{kDngVersion, 1, 4, 1}}), directories({{kPhotometric, 3, 1, kFilters}}),
          // A directory below, which is the first one again; several, of which there are none.
          directories({{kSubDirectories, 4, 1, 8}, {kDngVersion, 1, 4, 1}}),
          directories({{kSubDirectories, 4, 99, 8}, {kPhotometric, 3, 1, 34892}})};
}

struct MorePictures {
  std::string_view format;
  std::vector<FileBytes> (*whole)();
  std::vector<SpoiltFile> (*spoilt)() = nullptr;
};
constexpr MorePictures kMorePictures[] = {{"tiff", more_tiffs},
                                          {"pnm", more_pnms},
                                          {"gif", more_gifs},
                                          {"heif", more_heifs},
                                          {"webp", more_webps, spoilt_webps},
                                          {"jxl", more_jxls, spoilt_jxls},
                                          {"jpeg2000", more_jpeg2000s, spoilt_jpeg2000s},
                                          {"raw", more_raws, spoilt_raws}};

}  // namespace

std::vector<FileBytes> more_pictures(std::string_view format) {
  for (const MorePictures& each : kMorePictures) {
    if (each.format == format) return each.whole();
  }
  return {};
}

std::vector<SpoiltFile> spoilt_pictures(std::string_view format) {
  for (const MorePictures& each : kMorePictures) {
    if (each.format == format && each.spoilt != nullptr) return each.spoilt();
  }
  return {};
}

}  // namespace diacut::fuzz
