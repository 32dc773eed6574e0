#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "image_files.hpp"
#include "matchers.hpp"
#include "mended.hpp"
#include "temp_folder.hpp"
#include "whole_files.hpp"

/// Damaged files: an InputError or a whole picture, never a crash. Nothing is printed but by libjxl
/// and dav1d, which Debian builds so that they tell of damage themselves.
namespace diacut::testing {
namespace {

/// Nothing if it is refused with an InputError that begins with its name.
std::optional<Image> try_decode(const FileBytes& file, const std::string& name,
                                const ImageParameters& parameters = {}) {
  std::optional<Image> image;
  const std::string refusal =
      message_of<InputError>([&] { image = decode_image(file, name, parameters); });
  if (!image) {
    EXPECT_THAT(refusal, StartsWith(name + ": "));
  }
  return image;
}

std::string image_damage_refusal(const FileBytes& file, const std::string& name,
                                 const ImageParameters& parameters = {}) {
  return message_of<InputError>([&] { decode_image(file, name, parameters); });
}

FileBytes first_bytes(const FileBytes& file, std::size_t size) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)};
}

/// Fails the test if anything was written to stderr while it existed.
class SilenceOnStderr {
 public:
  SilenceOnStderr() { ::testing::internal::CaptureStderr(); }
  ~SilenceOnStderr() { EXPECT_EQ(::testing::internal::GetCapturedStderr(), ""); }
  SilenceOnStderr(const SilenceOnStderr&) = delete;
  SilenceOnStderr& operator=(const SilenceOnStderr&) = delete;
};

TEST(DamagedImage, CutAnywhereIsRefusedUnlessThePictureIsWhole) {
  const SilenceOnStderr silence;
  for (const auto& [name, file] : testing::whole_files()) {
    SCOPED_TRACE(name);
    const Image whole = decode_image(file, name);
    std::size_t accepted = 0;
    // Every position near both ends, and every few in between.
    for (std::size_t size = 0; size < file.size();
         size += size < 200 || size + 60 > file.size() ? 1 : 13) {
      const std::optional<Image> image = try_decode(first_bytes(file, size), name);
      if (!image) continue;
      ++accepted;
      ASSERT_EQ(image->width, whole.width) << size << " of " << file.size();
      ASSERT_EQ(image->pixels, whole.pixels) << size << " of " << file.size();
      ASSERT_EQ(image->valid, whole.valid) << size << " of " << file.size();
    }
    // What may be missing of a whole picture is a few bytes after it.
    EXPECT_LE(accepted, 8u);
  }
}

TEST(DamagedImage, CutFilesAreCalledSo) {
  for (const auto& [name, file] : testing::whole_files()) {
    EXPECT_THAT(
        image_damage_refusal(first_bytes(file, file.size() * 2 / 3), name),
        AllOf(StartsWith(name + ": "), HasSubstr("cut off"), HasSubstr("copy or save it again")));
  }
}

TEST(DamagedImage, CutCameraFilesAreRefusedAtTenPlaces) {
  const SilenceOnStderr silence;
  for (const auto& [name, file] : testing::whole_camera_files()) {
    for (std::size_t tenth = 1; tenth < 10; ++tenth) {
      EXPECT_FALSE(try_decode(first_bytes(file, file.size() * tenth / 10), name))
          << name << ", " << tenth << " tenths";
    }
    // The last bytes of a DNG are of tags that tell nothing of the picture.
    if (name == "a.dng") continue;
    EXPECT_FALSE(try_decode(first_bytes(file, file.size() - 20), name)) << name << ", end";
  }
}

TEST(DamagedImage, CorruptDataAreRefusedWhereTheFormatShowsThem) {
  // PNG has check sums; JPEG's decoder notices that codes end early or late.
  const std::map<std::string, FileBytes> files = testing::whole_files();
  for (const char* name : {"8.png", "16.png", "alpha.png", "colour.jpg", "jpeg.tif"}) {
    FileBytes damaged = files.at(name);
    const std::size_t middle = damaged.size() / 2;
    for (std::size_t k = 0; k < 12; ++k) damaged[middle + k] ^= 0x5a;
    EXPECT_THAT(image_damage_refusal(damaged, name), HasSubstr("damaged")) << name;
  }
}

TEST(DamagedImage, BytesTooManyInAJpegAreDamageUnlessTheyFillUp) {
  const FileBytes file = testing::whole_files().at("colour.jpg");
  const Image whole = decode_image(file, "whole.jpg");
  const auto with = [&](std::size_t count, std::uint8_t byte) {
    FileBytes longer = file;
    longer.insert(longer.end() - 2, count, byte);  // Before the end mark.
    return longer;
  };
  const Image filled = decode_image(with(12, 0), "a.jpg");
  EXPECT_EQ(filled.pixels, whole.pixels);
  EXPECT_THAT(filled.notes, ::testing::IsEmpty());
  for (const FileBytes& longer : {with(12, 0x11), with(100, 0x11), with(100, 0)}) {
    EXPECT_THAT(image_damage_refusal(longer, "b.jpg"),
                ::testing::AllOf(HasSubstr("damaged"), HasSubstr("image.damaged")));
    const Image taken = decode_image(longer, "b.jpg", {.damaged = true});
    EXPECT_TRUE(taken.is_damaged);
    EXPECT_EQ(taken.pixels, whole.pixels);
    EXPECT_THAT(taken.notes, ::testing::ElementsAre(HasSubstr("part of the picture is wrong")));
  }
  EXPECT_FALSE(decode_image(file, "whole.jpg", {.damaged = true}).is_damaged);
  // Between what stands before the picture, cameras leave anything.
  FileBytes spaced = file;
  const std::vector<std::uint8_t> table = {0xff, 0xdb};
  spaced.insert(std::search(spaced.begin(), spaced.end(), table.begin(), table.end()), 26, 0x11);
  EXPECT_EQ(decode_image(spaced, "c.jpg").pixels, whole.pixels);
}

TEST(DamagedImage, OfAJpegWhatCanBeDecodedIsTakenWhereThatIsAllowed) {
  FileBytes file = testing::encode(".jpg", testing::random_samples(90, 75, CV_8UC3));
  const Image whole = decode_image(file, "whole.jpg");
  for (std::size_t k = 0; k < 50; ++k) file[file.size() / 2 + k] = static_cast<std::uint8_t>(7 * k);
  EXPECT_THAT(image_damage_refusal(file, "a.jpg"), HasSubstr("damaged"));
  for (const bool untrusted : {false, true}) {
    const Image taken = decode_image(file, "a.jpg", {.untrusted = untrusted, .damaged = true});
    EXPECT_TRUE(taken.is_damaged);
    ASSERT_EQ(taken.pixels.size(), whole.pixels.size());
    const std::size_t third = whole.pixels.size() / 3;
    EXPECT_TRUE(
        std::equal(whole.pixels.begin(), whole.pixels.begin() + third, taken.pixels.begin()));
    EXPECT_NE(taken.pixels, whole.pixels);
  }
}

TEST(DamagedImage, OnlyTheEndMarkOfAJpegMayBeMissing) {
  for (const int progressive : {0, 1}) {
    const FileBytes file = testing::encode(".jpg", testing::random_samples(60, 45, CV_8UC3),
                                           {cv::IMWRITE_JPEG_PROGRESSIVE, progressive});
    const Image whole = decode_image(file, "whole.jpg");
    const FileBytes cut(file.begin(), file.end() - 2);
    const Image image = decode_image(cut, "a.jpg");
    EXPECT_EQ(image.pixels, whole.pixels);
    EXPECT_THAT(image.notes, ::testing::Contains(HasSubstr("marker of its end")));
    // Also where a whole scan is missing.
    const std::vector<std::uint8_t> scan = {0xff, 0xda};
    const auto last = std::find_end(file.begin(), file.end(), scan.begin(), scan.end());
    for (const auto end : {file.end() - 30, file.begin() + 3 * file.size() / 4, last}) {
      EXPECT_NE(image_damage_refusal(FileBytes(file.begin(), end), "b.jpg"), "");
    }
  }
}

/// Sets big- or little-endian integers of a file.
FileBytes patched(FileBytes file, std::size_t at, std::uint32_t value, int size, bool big) {
  for (int k = 0; k < size; ++k) {
    file[at + static_cast<std::size_t>(big ? size - 1 - k : k)] =
        static_cast<std::uint8_t>(value >> 8 * k);
  }
  return file;
}

std::size_t find(const FileBytes& file, const FileBytes& part) {
  const auto at = std::search(file.begin(), file.end(), part.begin(), part.end());
  EXPECT_NE(at, file.end());
  return static_cast<std::size_t>(at - file.begin());
}

TEST(DamagedImage, HeadersThatClaimTooMuchOrNothingAreRefusedAtOnce) {
  const std::map<std::string, FileBytes> files = testing::whole_files();
  /// A file with another width and height, of so many bytes, at these places.
  const auto sized = [](const FileBytes& file, std::size_t at_width, std::uint32_t width,
                        std::size_t at_height, std::uint32_t height, int size, bool big = false) {
    return patched(patched(file, at_width, width, size, big), at_height, height, size, big);
  };
  const FileBytes &png = files.at("8.png"), &jpeg = files.at("colour.jpg");
  const FileBytes &bmp = files.at("colour.bmp"), &webp = files.at("turned.webp");
  const std::size_t frame = find(jpeg, {0xff, 0xc0});
  const std::string pnm = "P6 100000 100000 65535\n";
  const std::vector<std::tuple<std::string, FileBytes, std::string>> claims = {
      {"a.png", mended_png(sized(png, 16, 100'000, 20, 100'000, 4, true)), "100000 x 100000"},
      {"b.png", mended_png(sized(png, 16, 0x7fffffff, 20, 0x7fffffff, 4, true)),
       "2147483647 x 2147483647"},
      {"a.jpg", sized(jpeg, frame + 7, 65001, frame + 5, 65000, 2, true), "65001 x 65000"},
      {"a.bmp", sized(bmp, 18, 100'000, 22, 0x80000000, 4), "100000 x 2147483648"},
      {"b.bmp", patched(bmp, 18, 0, 4, false), "0 x 29"},
      {"c.bmp", patched(bmp, 18, 0xffffffff, 4, false), "-1 x 29"},
      {"a.webp", sized(webp, 24, 0xfffffe, 27, 0x8fffff, 3), "16777215 x 9437184"},
      {"a.tif",
       with_tag(with_tag(files.at("raw.tif"), TIFFTAG_IMAGEWIDTH, 65000), TIFFTAG_IMAGELENGTH,
                65001),
       "65000 x 65001"},
      {"a.ppm", FileBytes(pnm.begin(), pnm.end()), "100000 x 100000"},
      {"a.gif", sized(stored_file("interlaced.gif"), 6, 0xffff, 8, 0xffff, 2), "65535 x 65535"},
  };
  const auto start = std::chrono::steady_clock::now();
  for (const auto& [name, file, size] : claims) {
    EXPECT_THAT(image_damage_refusal(file, name),
                AllOf(StartsWith(name + ": "), HasSubstr(size + " pixels")));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(DamagedImage, SizesAreHeldAgainstTheLimitBeforeMemoryIsTaken) {
  std::map<std::string, FileBytes> files = testing::whole_files();
  files.merge(testing::whole_camera_files());
  for (const auto& [name, file] : files) {
    ImageParameters parameters;
    const Image image = decode_image(file, name);
    parameters.max_pixels = image.width * image.height;
    // Some versions of libheif code more pixels than the picture has, which the header claims.
    if (name != "a.heic") {
      EXPECT_EQ(image_damage_refusal(file, name, parameters), "") << name;
    }
    --parameters.max_pixels;
    EXPECT_THAT(image_damage_refusal(file, name, parameters),
                AllOf(StartsWith(name + ": "), HasSubstr("image.max_pixels"),
                      HasSubstr(fmt::format("the limit of {}", parameters.max_pixels))));
  }
}

TEST(DamagedImage, ATiffOfMoreRowsThanItsStripsHoldIsRefused) {
  const auto files = testing::whole_files();
  for (const char* name : {"raw.tif", "lzw.tif", "packbits.tif", "palette.tif"}) {
    for (const std::uint32_t height : {90U, 2'000'000U}) {
      EXPECT_THAT(image_damage_refusal(with_tag(files.at(name), TIFFTAG_IMAGELENGTH, height), name),
                  HasSubstr("strips are missing"))
          << height;
    }
  }
  for (const char* name : {"raw.tif", "lzw.tif", "packbits.tif", "palette.tif"}) {
    const FileBytes strip = with_tag(files.at(name), TIFFTAG_ROWSPERSTRIP, 2'000'000);
    EXPECT_THAT(image_damage_refusal(with_tag(strip, TIFFTAG_IMAGELENGTH, 2'000'000), name),
                HasSubstr("bytes of data for 41 x 2000000 pixels"));
  }
  for (const char* name : {"fax.tif", "jpeg.tif"}) {
    const FileBytes strip = with_tag(files.at(name), TIFFTAG_ROWSPERSTRIP, 90);
    EXPECT_THAT(image_damage_refusal(with_tag(strip, TIFFTAG_IMAGELENGTH, 90), name),
                HasSubstr("damaged or cut off"));
  }
}

TEST(DamagedImage, ATiffThatDeflatePackedIsRefusedUnlessItsBitsSayTheSame) {
  for (const int predictor : {1, 2}) {
    TiffPage page = tiff_page(testing::random_samples(31, 29, CV_8UC3));
    page.compression = COMPRESSION_ADOBE_DEFLATE;
    page.predictor = predictor;
    page.rows_per_strip = 10;
    const FileBytes file = write_tiff({page});
    const Image whole = decode_image(file, "a.tif");
    const std::size_t begin = 8;  // Of the strips.
    int taken = 0;
    for (std::size_t at = begin; at < begin + 3 * 31 * 20; ++at) {
      FileBytes damaged = file;
      damaged[at] ^= static_cast<std::uint8_t>(1 << at % 8);
      const std::optional<Image> image = try_decode(damaged, "a.tif");
      if (!image) continue;
      ++taken;
      ASSERT_EQ(image->pixels, whole.pixels) << at;
    }
    EXPECT_LE(taken, 6);  // Bits that fill up bytes.
  }
}

TEST(DamagedImage, ACodedPictureMuchLargerThanTheIndexSaysIsRefused) {
  const std::string file = read_bytes(std::string(DIACUT_SOURCE_DIR) +
                                      "/tests/fuzz/found/heif/large_coded_picture.heic");
  EXPECT_THAT(image_damage_refusal(FileBytes(file.begin(), file.end()), "a.heic"),
              AllOf(StartsWith("a.heic: "),
                    AnyOf(HasSubstr("16392x8200"),
                          HasSubstr("cannot be decoded")),  // By a newer libheif, before that.
                    Not(HasSubstr("\n"))));
}

}  // namespace
}  // namespace diacut::testing
