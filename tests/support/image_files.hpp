#pragma once

#include <tiffio.h>

#include <cstdint>
#include <functional>
#include <opencv2/core.hpp>
#include <random>
#include <string>
#include <vector>

#include "diacut/image.hpp"

/// Image files made by the libraries that tests do not test: OpenCV, libpng, libtiff, libjpeg.
namespace diacut::testing {

using FileBytes = std::vector<std::uint8_t>;

/// A copy of which one to eight bytes are other ones: half of these, on average, among the first
/// `header` bytes, the rest anywhere.
FileBytes with_changed_bytes(const FileBytes& file, std::size_t header, std::mt19937_64& generator);

/// OpenCV's imencode of `samples` whose first channel is red.
FileBytes encode(const std::string& extension, const cv::Mat& samples,
                 const std::vector<int>& options = {});

/// Uniformly random samples over the type's range (floats: [0, 1)), from a seed.
cv::Mat random_samples(int width, int height, int type, std::uint64_t seed = 1);

/// A Windows bitmap, field by field; `pixels` as they are stored.
struct BmpFile {
  int width = 2;
  int height = 2;  ///< Negative: rows from the top down.
  int bits = 24;   ///< A pixel's.
  std::uint32_t compression = 0;
  std::uint32_t header = 40;                ///< Bytes, without the file header's 14.
  std::vector<std::uint32_t> masks = {};    ///< Red, green, blue, alpha.
  std::vector<std::uint32_t> palette = {};  ///< 0xRRGGBB each.
  FileBytes pixels = {};
};
FileBytes write_bmp(const BmpFile& file);

/// What libpng is told of a picture; `rows` hold samples of one or two bytes, in this machine's
/// byte order.
struct PngFile {
  int width = 0;
  int height = 0;
  int bits = 8;
  int colour_type = 0;  ///< PNG_COLOR_TYPE_...
  std::vector<FileBytes> rows = {};
  std::vector<std::uint8_t> palette = {};        ///< Red, green, blue of each colour.
  std::vector<std::uint8_t> palette_alpha = {};  ///< Of the first colours.
  std::vector<std::uint16_t> transparent = {};   ///< The transparent grey, or red, green, blue.
  bool is_interlaced = false;
  FileBytes exif = {};
  FileBytes profile = {};  ///< ICC; empty: none.
};
FileBytes write_png(const PngFile& file);

/// A picture of the depth (8 or 16 bits) and channels (first: red) of `samples`.
PngFile png_file(const cv::Mat& samples);

/// What libtiff is told of a page; `samples` are stored row by row, all samples of a pixel
/// together.
struct TiffPage {
  int width = 0;
  int height = 0;
  int bits = 8;
  int samples_per_pixel = 1;
  int sample_format = 1;  ///< SAMPLEFORMAT_...
  int photometric = 1;    ///< PHOTOMETRIC_...
  int compression = 1;    ///< COMPRESSION_...
  int predictor = 1;
  int orientation = 1;
  int rows_per_strip = 3;
  int tile = 0;  ///< Width and height of tiles; 0: strips.
  bool is_separate = false;
  std::vector<std::uint16_t> extra_samples = {};
  std::vector<std::uint16_t> palette = {};  ///< All reds, all greens, all blues.
  FileBytes samples = {};
  std::string description = {};              ///< ImageDescription; empty: none.
  FileBytes profile = {};                    ///< ICC; empty: none.
  std::function<void(TIFF*)> set_tags = {};  ///< Sets more tags.
};
FileBytes write_tiff(const std::vector<TiffPage>& pages, const char* mode = "w");

/// A TIFF file in this machine's byte order with another value of a tag of its first directory.
FileBytes with_tag(FileBytes file, int tag, std::uint32_t value);

/// Whole numbers of `bits` bits one behind the other, from the highest bit on, each row from a
/// whole byte on.
FileBytes packed(const cv::Mat& numbers, int bits);

/// A page of the depth and channels (first: red) of `samples`.
TiffPage tiff_page(const cv::Mat& samples);

/// A file of tests/support/stored, in formats that few libraries write:
/// - plain.gif and interlaced.gif, of 41 x 29 pixels in black, red, green and white, have the
/// colour
///   (7 x + 3 y) % 4, and green is transparent;
/// - frames.gif, of 4 x 1 pixels, is all white, then has one black pixel at the left, which gives
/// way
///   to what was there, one beside it, which gives way to nothing, and one beside that, which
///   stays;
/// - cmyk.jpg and cmyk_adobe.jpg, of 16 x 16 pixels, have much cyan, no magenta, half yellow and
///   little black; the latter inverted and with Adobe's mark, as has cmyk_noise.jpg of 41 x 29;
/// - cmyk.icc is a profile of inks by a table, which prints what their sum leaves of white, and
///   lab.icc one of colours that are Lab already. LittleCMS made both.
FileBytes stored_file(const std::string& name);

/// An EXIF block without JPEG's "Exif\0\0", whose first directory says the orientation.
FileBytes exif_block(int orientation, bool little_endian = true);

FileBytes jpeg_with_exif(const FileBytes& jpeg, const FileBytes& block);
/// `profile`: an ICC profile, which may be anything; at most 65,000 bytes.
FileBytes jpeg_with_profile(const FileBytes& jpeg, const FileBytes& profile);

struct WebpMetadata {
  FileBytes exif = {};
  FileBytes profile = {};  ///< ICC.
};
/// `webp`: a simple file of one VP8 or VP8L chunk.
FileBytes webp_with(const FileBytes& webp, int width, int height, const WebpMetadata& metadata);

/// Fails the test unless sizes agree, pixels are in [0, 1], valid is 0 or 1, and pixels without
/// data are 0.
void expect_well_formed(const Image& image);

}  // namespace diacut::testing
