#include "image/format.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "image_files.hpp"
#include "matchers.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

using std::string_literals::operator""s;

Bytes image_format_bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string head_refusal(const std::string& head) {
  return message_of<InputError>([&] { identify_format(image_format_bytes_of(head)); });
}

TEST(ImageFormat, OthersAreNamedWithWhatIsRead) {
  const std::vector<std::pair<std::string, std::string>> others = {
      {"\0\0\0\x1c"
       "ftypisom"s,
       "a video"},
      {"%PDF-1.7\n%\xe2\xe3"s, "a PDF"},
      {std::string(128, '\0') + "DICM"s, "a DICOM file"},
      {std::string(344, '\0') + "n+1\0"s, "a NIfTI volume (regions are found in planes"},
      {"ZISRAWFILE"s, "a Zeiss CZI file (save its pictures as OME-TIFF"},
      {"\xda\xce\xbe\x0a"s, "a Nikon ND2 file"},
      {"\x70\0\0\0"s, "a Leica LIF file"},
      {"PK\3\4\0\0"s, "a ZIP archive"},
      {"\x93NUMPY\1\0"s, "a NumPy array"},
      {"not a picture at all\n"s, "a text file"},
      {"BMW and other cars\n"s, "a text file"},
      {"P1 is a point\n"s, "a text file"},
      {"na\xc3\xafve text\n"s, "a text file"},
      {"\1\2\3\4\5\6\7\x08\x09"s, "its first bytes are 01 02 03 04 05 06 07 08)"},
      {"\x89PN"s, "its first bytes are 89 50 4e)"},
  };
  for (const auto& [head, name] : others) {
    EXPECT_THAT(head_refusal(head), HasSubstr(name));
    EXPECT_THAT(head_refusal(head), HasSubstr(image_format_names() + " are read"));
  }
  EXPECT_THAT(head_refusal(""), HasSubstr("empty"));
}

TEST(ImageFormat, EachIsInTheListOfTheDocuments) {
  std::string page = read_bytes(DIACUT_SOURCE_DIR "/docs/usage.md");
  page = page.substr(page.find("## Images that are read"));
  page.resize(page.find("\n### "));
  EXPECT_THAT(image_format_names(), StartsWith("JPEG, PNG, HEIC, AVIF, JPEG XL"));
  for (const ImageFormat& format : image_formats()) {
    for (std::string_view name : split_text(format.name.substr(0, format.name.find(" (")), ',')) {
      name.remove_prefix(name.find_first_not_of(' ') + 1);  // Its first letter may be a capital.
      EXPECT_THAT(page, HasSubstr(std::string(name)));
    }
  }
}

std::string file_refusal(const std::string& path) {
  return message_of<InputError>([&] { read_image(path); });
}

TEST(ReadImage, IsDecodeImageOfTheFile) {
  const TempFolder folder;
  // More than the first piece that is read.
  const FileBytes file = testing::encode(".png", testing::random_samples(700, 900, CV_8UC3));
  ASSERT_GT(file.size(), std::size_t{1} << 20);
  const Image image = read_image(folder.write("a.png", file));
  EXPECT_EQ(image.pixels, decode_image(file, "a.png").pixels);
  // The name says nothing of the format.
  EXPECT_EQ(read_image(folder.write("a.jpg", file)).pixels, image.pixels);
}

TEST(ReadImage, FilesThatAreNone) {
  const TempFolder folder;
  EXPECT_THAT(file_refusal(folder / "missing.png"),
              AllOf(StartsWith(folder / "missing.png"), HasSubstr("No such file")));
  EXPECT_THAT(file_refusal(folder / ""), HasSubstr("a folder, expected an image file"));
  EXPECT_THAT(file_refusal(folder.write("empty.png", {})),
              AllOf(StartsWith(folder / "empty.png"), HasSubstr("empty")));
  EXPECT_THAT(file_refusal(folder.write("text.png", {'h', 'e', 'l', 'l', 'o', '\n'})),
              AllOf(StartsWith(folder / "text.png"), HasSubstr("a text file"), HasSubstr("PNG")));
  EXPECT_THAT(file_refusal(""), HasSubstr("No such file"));
}

TEST(ReadImage, FilesThatCannotBeRead) {
  // Opens for everyone, root too, and fails to read at address 0.
  EXPECT_THAT(file_refusal("/proc/self/mem"), HasSubstr("/proc/self/mem: cannot be read: "));
}

/// A picture without its pixels: a header, then zeros to `size` bytes, which take no space.
std::string header_alone(const TempFolder& folder, const std::string& header, std::uintmax_t size) {
  std::string path = folder.write("large.ppm", {header.begin(), header.end()});
  std::filesystem::resize_file(path, size);
  return path;
}

TEST(ReadImage, TheSizeIsToldBeforeAPictureIsDecoded) {
  const TempFolder folder;
  const std::string header = "P6 400 300 255 ";
  const std::string path = header_alone(folder, header, header.size());
  std::vector<ImageSize> told;
  const auto note = [&told](const ImageSize& size) { told.push_back(size); };
  EXPECT_THROW(read_image(path, {}, {}, note), InputError);  // It has no pixels.
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].width, 400);
  EXPECT_EQ(told[0].height, 300);
  EXPECT_EQ(told[0].file_bytes, header.size());

  const auto refuse = [](const ImageSize&) { throw DeviceError("too large"); };
  try {
    read_image(path, {}, {}, refuse);
    FAIL() << "read in spite of the check";
  } catch (const DeviceError& error) {
    EXPECT_EQ(std::string(error.what()), path + ": too large");
  }
}

TEST(ReadImage, ALargeFileIsReadLikeAnother) {
  const TempFolder folder;
  constexpr int kSide = 2400;  // 17 MB.
  const FileBytes file = testing::encode(".ppm", testing::random_samples(kSide, kSide, CV_8UC3));
  ASSERT_GT(file.size(), std::size_t{1} << 24);
  int told = 0;
  const auto note = [&told](const ImageSize&) { ++told; };
  const Image image = read_image(folder.write("a.ppm", file), {}, {}, note);
  EXPECT_EQ(told, 2);  // By the header alone, then by the whole file.
  EXPECT_EQ(image.pixels, decode_image(file, "a.ppm").pixels);
}

TEST(ReadImage, EndlessFilesAreToldFromTheirStart) {
  EXPECT_THAT(file_refusal("/dev/zero"), HasSubstr("/dev/zero: not an image"));
}

}  // namespace
}  // namespace diacut::testing
