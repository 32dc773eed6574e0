#include "image_files.hpp"

#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

void append(FileBytes& bytes, const void* data, std::size_t size) {
  const auto* begin = static_cast<const std::uint8_t*>(data);
  std::copy_n(begin, size, std::back_inserter(bytes));
}

void append_uint(FileBytes& bytes, std::uint32_t value, int size, bool little_endian) {
  for (int k = 0; k < size; ++k) {
    const int shift = 8 * (little_endian ? k : size - 1 - k);
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

void append_chunk(FileBytes& bytes, const char* name, const FileBytes& data) {
  append(bytes, name, 4);
  append_uint(bytes, static_cast<std::uint32_t>(data.size()), 4, true);
  append(bytes, data.data(), data.size());
  if (data.size() % 2 == 1) bytes.push_back(0);
}

void check(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("a test's file cannot be written: ") + what);
}

/// Tile by tile, or row by row; the library changes what it is given.
void write_samples(TIFF* tiff, const TiffPage& page) {
  if (page.tile == 0 && !page.is_separate) {
    FileBytes samples = page.samples;
    for (int y = 0; y < page.height; ++y) {
      std::uint8_t* row = samples.data() + y * TIFFScanlineSize(tiff);
      check(TIFFWriteScanline(tiff, row, static_cast<std::uint32_t>(y), 0) == 1, "TIFF row");
    }
    return;
  }
  const int depth = page.bits == 8    ? CV_8U
                    : page.bits == 16 ? CV_16U
                    : page.bits == 32 ? CV_32S
                                      : CV_64F;
  const cv::Mat samples(page.height, page.width, CV_MAKETYPE(depth, page.samples_per_pixel),
                        const_cast<std::uint8_t*>(page.samples.data()));
  std::vector<cv::Mat> planes = {samples};
  if (page.is_separate) cv::split(samples, planes);
  const cv::Size size = page.tile > 0 ? cv::Size(page.tile, page.tile) : cv::Size(page.width, 1);
  for (std::size_t plane = 0; plane < planes.size(); ++plane) {
    for (int y = 0; y < page.height; y += size.height) {
      for (int x = 0; x < page.width; x += size.width) {
        // Tiles are filled with zeros beyond the picture.
        const cv::Rect there = cv::Rect({x, y}, size) & cv::Rect(0, 0, page.width, page.height);
        cv::Mat block = cv::Mat::zeros(size, planes[plane].type());
        planes[plane](there).copyTo(block(cv::Rect({}, there.size())));
        const auto column = static_cast<std::uint32_t>(x);
        const auto row = static_cast<std::uint32_t>(y);
        const auto sample = static_cast<std::uint16_t>(plane);
        check((page.tile > 0 ? TIFFWriteTile(tiff, block.data, column, row, 0, sample)
                             : TIFFWriteScanline(tiff, block.data, row, sample)) > 0,
              "TIFF block");
      }
    }
  }
}

}  // namespace

FileBytes encode(const std::string& extension, const cv::Mat& samples,
                 const std::vector<int>& options) {
  cv::Mat stored = samples.clone();
  if (samples.channels() == 3) cv::cvtColor(samples, stored, cv::COLOR_RGB2BGR);
  if (samples.channels() == 4) cv::cvtColor(samples, stored, cv::COLOR_RGBA2BGRA);
  FileBytes bytes;
  check(cv::imencode(extension, stored, bytes, options), extension.c_str());
  return bytes;
}

cv::Mat random_samples(int width, int height, int type, std::uint64_t seed) {
  cv::Mat samples(height, width, type);
  cv::RNG generator(seed);
  const double half = std::ldexp(1, 8 * static_cast<int>(samples.elemSize1()) - 1);
  const bool is_signed = samples.depth() != CV_8U && samples.depth() != CV_16U;
  // OpenCV draws no numbers from all of 32 bits.
  const double begin = samples.depth() >= CV_32F ? 0 : is_signed ? std::max(-half, 1 - 0x1p31) : 0;
  const double end = samples.depth() >= CV_32F ? 1
                     : is_signed               ? std::min(half, 0x1p31 - 1)
                                               : 2 * half;
  generator.fill(samples, cv::RNG::UNIFORM, begin, end);
  return samples;
}

FileBytes write_bmp(const BmpFile& file) {
  FileBytes header;
  const auto put = [](FileBytes& bytes, auto value, int size) {
    append_uint(bytes, static_cast<std::uint32_t>(value), size, true);
  };
  put(header, file.header, 4);
  put(header, file.width, 4);
  put(header, file.height, 4);
  put(header, 1, 2);
  put(header, file.bits, 2);
  put(header, file.compression, 4);
  put(header, file.pixels.size(), 4);
  put(header, 0, 4);
  put(header, 0, 4);
  put(header, file.palette.size(), 4);
  put(header, 0, 4);
  for (std::uint32_t mask : file.masks) put(header, mask, 4);
  while (header.size() < file.header) header.push_back(0);
  for (std::uint32_t colour : file.palette) put(header, colour, 4);
  FileBytes bytes;
  append(bytes, "BM", 2);
  const std::size_t start = 14 + header.size();
  put(bytes, start + file.pixels.size(), 4);
  put(bytes, 0, 4);
  put(bytes, start, 4);
  append(bytes, header.data(), header.size());
  append(bytes, file.pixels.data(), file.pixels.size());
  return bytes;
}

FileBytes write_png(const PngFile& file) {
  FileBytes bytes;
  png_structp png = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, nullptr,
      [](png_structp, png_const_charp message) { throw std::runtime_error(message); }, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp writer, png_bytep data, std::size_t size) {
        append(*static_cast<FileBytes*>(png_get_io_ptr(writer)), data, size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(file.width),
               static_cast<png_uint_32>(file.height), file.bits, file.colour_type,
               file.is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!file.palette.empty()) {
    std::vector<png_color> colours(file.palette.size() / 3);
    for (std::size_t k = 0; k < colours.size(); ++k) {
      colours[k] = {file.palette[3 * k], file.palette[3 * k + 1], file.palette[3 * k + 2]};
    }
    png_set_PLTE(png, info, colours.data(), static_cast<int>(colours.size()));
    if (!file.palette_alpha.empty()) {
      png_set_tRNS(png, info, file.palette_alpha.data(),
                   static_cast<int>(file.palette_alpha.size()), nullptr);
    }
  }
  if (!file.transparent.empty()) {
    png_color_16 key{};
    key.gray = file.transparent[0];
    if (file.transparent.size() == 3) {
      key.red = file.transparent[0];
      key.green = file.transparent[1];
      key.blue = file.transparent[2];
    }
    png_set_tRNS(png, info, nullptr, 0, &key);
  }
  FileBytes exif = file.exif;
  if (!exif.empty()) {
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(exif.size()), exif.data());
  }
  png_write_info(png, info);
  if (!file.profile.empty()) {
    // Written by hand, because libpng does not write a profile that is garbage.
    uLongf size = compressBound(file.profile.size());
    FileBytes chunk = {'p', 0, 0};
    chunk.resize(3 + size);
    check(::compress(chunk.data() + 3, &size, file.profile.data(), file.profile.size()) == Z_OK,
          "zlib");
    png_write_chunk(png, reinterpret_cast<png_const_bytep>("iCCP"), chunk.data(), 3 + size);
  }
  if (file.bits == 16 && std::endian::native == std::endian::little) png_set_swap(png);
  png_set_packing(png);
  std::vector<FileBytes> rows = file.rows;
  std::vector<png_bytep> pointers;
  for (FileBytes& row : rows) pointers.push_back(row.data());
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

PngFile png_file(const cv::Mat& samples) {
  PngFile file;
  file.width = samples.cols;
  file.height = samples.rows;
  file.bits = static_cast<int>(samples.elemSize1()) * 8;
  constexpr std::array kTypes = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                 PNG_COLOR_TYPE_RGB_ALPHA};
  file.colour_type = kTypes.at(static_cast<std::size_t>(samples.channels() - 1));
  for (int y = 0; y < samples.rows; ++y) {
    file.rows.emplace_back(samples.ptr(y), samples.ptr(y) + samples.step[0]);
  }
  return file;
}

FileBytes with_tag(FileBytes file, int tag, std::uint32_t value) {
  const auto read = [&](std::size_t at, auto number) {
    std::memcpy(&number, &file.at(at), sizeof number);
    return number;
  };
  const auto write = [&](std::size_t at, auto number) {
    std::memcpy(&file.at(at), &number, sizeof number);
  };
  const std::size_t directory = read(4, std::uint32_t{});
  std::size_t at = directory + 2;
  while (read(at, std::uint16_t{}) != tag) at += 12;
  check(at < directory + 2 + 12U * read(directory, std::uint16_t{}), "TIFF tag");
  write(at + 2, std::uint16_t{TIFF_LONG});
  write(at + 8, value);
  return file;
}

FileBytes packed(const cv::Mat& numbers, int bits) {
  FileBytes bytes;
  for (int y = 0; y < numbers.rows; ++y) {
    int filled = 0;  // Bits of the row.
    for (const int number : cv::Mat1i(cv::Mat(numbers.row(y).reshape(1)))) {
      for (int bit = bits - 1; bit >= 0; --bit, ++filled) {
        if (filled % 8 == 0) bytes.push_back(0);
        bytes.back() |= static_cast<std::uint8_t>((number >> bit & 1) << (7 - filled % 8));
      }
    }
  }
  return bytes;
}

TiffPage tiff_page(const cv::Mat& samples) {
  TiffPage page;
  page.width = samples.cols;
  page.height = samples.rows;
  page.bits = static_cast<int>(samples.elemSize1()) * 8;
  page.samples_per_pixel = samples.channels();
  page.photometric = samples.channels() >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  page.sample_format = samples.depth() >= CV_32F                               ? SAMPLEFORMAT_IEEEFP
                       : samples.depth() == CV_8U || samples.depth() == CV_16U ? SAMPLEFORMAT_UINT
                                                                               : SAMPLEFORMAT_INT;
  if (samples.channels() % 2 == 0) page.extra_samples = {EXTRASAMPLE_UNASSALPHA};
  append(page.samples, samples.data, samples.total() * samples.elemSize());
  return page;
}

FileBytes write_tiff(const std::vector<TiffPage>& pages, const char* mode) {
  const TempFolder folder;
  TIFF* tiff = TIFFOpen((folder / "a.tif").c_str(), mode);
  check(tiff != nullptr, "TIFF");
  for (const TiffPage& page : pages) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, page.width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, page.height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, page.bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, page.samples_per_pixel);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, page.sample_format);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, page.photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, page.compression);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, page.orientation);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
                 page.is_separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (!page.description.empty()) {
      TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, page.description.c_str());
    }
    if (!page.profile.empty()) {
      TIFFSetField(tiff, TIFFTAG_ICCPROFILE, static_cast<std::uint32_t>(page.profile.size()),
                   page.profile.data());
    }
    if (page.set_tags) page.set_tags(tiff);
    if (page.predictor != 1) TIFFSetField(tiff, TIFFTAG_PREDICTOR, page.predictor);
    if (page.compression == COMPRESSION_JPEG) {
      TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    }
    if (page.tile > 0) {
      TIFFSetField(tiff, TIFFTAG_TILEWIDTH, page.tile);
      TIFFSetField(tiff, TIFFTAG_TILELENGTH, page.tile);
    } else {
      TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, page.rows_per_strip);
    }
    if (!page.extra_samples.empty()) {
      TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(page.extra_samples.size()),
                   page.extra_samples.data());
    }
    if (!page.palette.empty()) {
      const std::size_t colours = page.palette.size() / 3;
      TIFFSetField(tiff, TIFFTAG_COLORMAP, page.palette.data(), page.palette.data() + colours,
                   page.palette.data() + 2 * colours);
    }
    write_samples(tiff, page);
    check(TIFFWriteDirectory(tiff) != 0, "TIFF directory");
  }
  TIFFClose(tiff);
  const std::string bytes = read_bytes(folder / "a.tif");
  return {bytes.begin(), bytes.end()};
}

FileBytes stored_file(const std::string& name) {
  const std::string bytes = read_bytes(DIACUT_SOURCE_DIR "/tests/support/stored/" + name);
  return {bytes.begin(), bytes.end()};
}

FileBytes exif_block(int orientation, bool little_endian) {
  FileBytes block;
  append(block, little_endian ? "II" : "MM", 2);
  const auto put = [&](std::initializer_list<std::pair<int, int>> numbers) {
    for (const auto& [number, size] : numbers) {
      append_uint(block, static_cast<std::uint32_t>(number), size, little_endian);
    }
  };
  put({{42, 2}, {8, 4}, {2, 2}});
  // ImageWidth as LONG, so that the orientation is not the first entry.
  put({{0x0100, 2}, {4, 2}, {1, 4}, {640, 4}});
  put({{0x0112, 2}, {3, 2}, {1, 4}, {orientation, 2}, {0, 2}, {0, 4}});
  return block;
}

namespace {

/// A JPEG with one more block of application data, which comes first.
FileBytes with_block(const FileBytes& jpeg, std::uint8_t marker, const std::string& name,
                     const FileBytes& data) {
  FileBytes bytes(jpeg.begin(), jpeg.begin() + 2);
  bytes.insert(bytes.end(), {0xff, marker});
  append_uint(bytes, static_cast<std::uint32_t>(2 + name.size() + data.size()), 2, false);
  append(bytes, name.data(), name.size());
  append(bytes, data.data(), data.size());
  append(bytes, jpeg.data() + 2, jpeg.size() - 2);
  return bytes;
}

}  // namespace

FileBytes jpeg_with_exif(const FileBytes& jpeg, const FileBytes& block) {
  return with_block(jpeg, 0xe1, std::string("Exif\0\0", 6), block);
}

FileBytes jpeg_with_profile(const FileBytes& jpeg, const FileBytes& profile) {
  // The first piece of one.
  return with_block(jpeg, 0xe2, std::string("ICC_PROFILE\0\1\1", 14), profile);
}

FileBytes webp_with(const FileBytes& webp, int width, int height, const WebpMetadata& metadata) {
  const auto& [exif, profile] = metadata;
  constexpr int kHasExif = 0x08, kHasProfile = 0x20;
  const int flags = (exif.empty() ? 0 : kHasExif) | (profile.empty() ? 0 : kHasProfile);
  FileBytes header = {static_cast<std::uint8_t>(flags), 0, 0, 0};
  append_uint(header, static_cast<std::uint32_t>(width - 1), 3, true);
  append_uint(header, static_cast<std::uint32_t>(height - 1), 3, true);
  FileBytes chunks;
  append(chunks, "WEBP", 4);
  append_chunk(chunks, "VP8X", header);
  if (!profile.empty()) append_chunk(chunks, "ICCP", profile);
  append(chunks, webp.data() + 12, webp.size() - 12);
  if (!exif.empty()) append_chunk(chunks, "EXIF", exif);
  FileBytes bytes;
  append_chunk(bytes, "RIFF", chunks);
  return bytes;
}

FileBytes with_changed_bytes(const FileBytes& file, std::size_t header,
                             std::mt19937_64& generator) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(generator);
  };
  FileBytes changed = file;
  const std::size_t changes = 1 + below(8);
  for (std::size_t k = 0; k < changes; ++k) {
    const std::size_t range = below(2) == 0 ? std::min(file.size(), header) : file.size();
    changed[below(range)] = static_cast<std::uint8_t>(below(256));
  }
  return changed;
}

void expect_well_formed(const Image& image) {
  ASSERT_GT(image.width, 0);
  ASSERT_GT(image.height, 0);
  ASSERT_TRUE(image.channels == 1 || image.channels == 3) << image.channels;
  const auto channels = static_cast<std::size_t>(image.channels);
  ASSERT_EQ(image.pixels.size(), image.pixel_count() * channels);
  ASSERT_TRUE(image.valid.empty() || image.valid.size() == image.pixel_count());
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const float value = image.pixels[i];
    ASSERT_TRUE(value >= 0.0f && value <= 1.0f) << value << " at " << i;
    if (image.valid.empty()) continue;
    const std::uint8_t valid = image.valid[i / channels];
    ASSERT_LE(valid, 1);
    ASSERT_TRUE(valid == 1 || value == 0.0f) << value << " at " << i;
  }
}

}  // namespace diacut::testing
