#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

constexpr std::size_t kFileHeader = 14;
enum Compression : std::uint32_t { kNone = 0, kMasks = 3 };

[[noreturn]] void refuse_kind(std::string_view what) {
  throw InputError(
      fmt::format("a kind of BMP that is not supported ({}): save it with 24 bits a pixel, or as "
                  "PNG",
                  what));
}

struct Header {
  std::size_t pixels_at = 0;
  std::size_t size = 0;  ///< Bytes of the header that follows the file header.
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool is_from_top = false;  ///< Rows run from the top down, else from the bottom up.
  std::uint32_t bits = 0;
  std::uint32_t compression = 0;
  std::size_t palette = 0;  ///< Colours of the palette.
};

Header read_header(Bytes file) {
  const auto field = [&](std::size_t at, std::size_t size) {
    if (at + size > file.size()) refuse_damaged("BMP", "the data end within the header");
    return read_uint(file, at, size, ByteOrder::kLittle);
  };
  Header header;
  header.pixels_at = field(10, 4);
  header.size = field(kFileHeader, 4);
  if (header.size < 40) refuse_kind("an OS/2 bitmap");
  header.width = static_cast<std::int32_t>(field(18, 4));
  header.height = static_cast<std::int32_t>(field(22, 4));
  header.is_from_top = header.height < 0;
  header.height = std::max(header.height, -header.height);
  header.bits = field(28, 2);
  header.compression = field(30, 4);
  header.palette = field(46, 4);
  if (header.palette == 0 && header.bits <= 8) header.palette = std::size_t{1} << header.bits;
  return header;
}

/// Whether masks say that the fourth byte is alpha and the others blue, green, red.
bool has_alpha_mask(Bytes file, const Header& header) {
  constexpr std::array<std::uint32_t, 3> kColours = {0x00ff0000, 0x0000ff00, 0x000000ff};
  constexpr std::size_t kMasksAt = 54;
  const bool has_fourth = header.size >= 56;
  if (file.size() < kMasksAt + (has_fourth ? 16 : 12))
    refuse_damaged("BMP", "its colour masks are missing");
  for (std::size_t k = 0; k < 3; ++k) {
    if (read_uint(file, kMasksAt + 4 * k, 4, ByteOrder::kLittle) != kColours[k]) {
      refuse_kind("unusual colour masks");
    }
  }
  return has_fourth && read_uint(file, kMasksAt + 12, 4, ByteOrder::kLittle) == 0xff000000;
}

/// The samples of rows of `row_bytes` each: grey, colours, or colours and the fourth byte.
cv::Mat bmp_samples(Bytes file, const Header& header, Bytes pixels, std::size_t row_bytes,
                    bool has_alpha) {
  constexpr std::array kOrder = {2, 1, 0, 3};
  std::array<std::uint8_t, 4 * 256> palette = {};  // Colours behind its end are black.
  bool is_grey = header.bits <= 8;
  if (is_grey) {
    const Bytes stored = file.subspan(kFileHeader + header.size, 4 * header.palette);
    std::copy(stored.begin(), stored.end(), palette.begin());
    for (std::size_t at = 0; at < std::size_t{4} << header.bits; at += 4) {
      is_grey = is_grey && palette[at] == palette[at + 1] && palette[at] == palette[at + 2];
    }
  }
  const int channels = is_grey ? 1 : has_alpha ? 4 : 3;
  cv::Mat samples(static_cast<int>(header.height), static_cast<int>(header.width),
                  CV_8UC(channels));
  for (int y = 0; y < samples.rows; ++y) {
    const int row = header.is_from_top ? y : samples.rows - 1 - y;
    const std::uint8_t* const stored = pixels.data() + static_cast<std::size_t>(row) * row_bytes;
    std::uint8_t* to = samples.ptr(y);
    std::size_t bit = 0;
    for (int x = 0; x < samples.cols; ++x, bit += header.bits) {
      const std::uint8_t* pixel = stored + bit / 8;
      if (header.bits <= 8) {
        const unsigned index = *pixel >> (8 - header.bits - bit % 8) & ((1U << header.bits) - 1);
        pixel = &palette[std::size_t{4} * index];
      }
      for (int c = 0; c < channels; ++c) *to++ = pixel[kOrder[static_cast<std::size_t>(c)]];
    }
  }
  return samples;
}

}  // namespace

Decoded decode_bmp(Bytes file, const SizeLimit& limit, const DecodeTask& /*task*/) {
  const Header header = read_header(file);
  check_size(header.width, header.height, limit);
  const std::uint32_t bits = header.bits;
  const bool is_plain = header.compression == kNone &&
                        (bits == 1 || bits == 4 || bits == 8 || bits == 24 || bits == 32);
  if (!is_plain && !(header.compression == kMasks && bits == 32)) {
    refuse_kind(fmt::format("{} bits a pixel, compression {}", bits, header.compression));
  }
  if (bits <= 8 &&
      (header.palette > 256 || kFileHeader + header.size + 4 * header.palette > file.size())) {
    refuse_damaged("BMP", fmt::format("a palette of {} colours", header.palette));
  }
  if (header.pixels_at < kFileHeader + header.size || header.pixels_at > file.size()) {
    refuse_damaged("BMP", "its pixels start outside of it");
  }
  const Bytes pixels = file.subspan(header.pixels_at);
  const std::int64_t row_bytes = (header.width * bits + 31) / 32 * 4;
  if (static_cast<std::int64_t>(pixels.size()) / row_bytes < header.height) {
    refuse_damaged("BMP", fmt::format("{} bytes of pixels, expected {}", pixels.size(),
                                      row_bytes * header.height));
  }
  const auto samples = [&](bool has_alpha) {
    return bmp_samples(file, header, pixels, static_cast<std::size_t>(row_bytes), has_alpha);
  };
  Decoded decoded;
  decoded.has_alpha = header.compression == kMasks && has_alpha_mask(file, header);
  decoded.samples = samples(decoded.has_alpha);
  if (!decoded.has_alpha) return decoded;
  cv::Mat alpha;
  cv::extractChannel(decoded.samples, alpha, 3);
  decoded.has_alpha = cv::countNonZero(alpha) > 0;
  // Where it is zero everywhere, programs show the picture opaque.
  if (!decoded.has_alpha) decoded.samples = samples(false);
  return decoded;
}

}  // namespace diacut
