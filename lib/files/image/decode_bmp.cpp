#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <opencv2/imgproc.hpp>
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
  std::uint32_t bits = 0;
  std::uint32_t compression = 0;
  std::size_t palette = 0;  ///< Colours of the palette; 0: as many as there can be.
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
  header.height =
      std::max(header.height, -header.height);  // A negative height: rows run from the top down.
  header.bits = field(28, 2);
  header.compression = field(30, 4);
  header.palette = field(46, 4);
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
  const bool has_alpha = header.compression == kMasks && has_alpha_mask(file, header);
  Decoded decoded;
  decoded.samples = decode_with_opencv(file, header.width, header.height);
  if (decoded.samples.channels() == 4) {
    // Where the fourth byte is unused or zero everywhere, programs show the picture opaque.
    cv::Mat alpha;
    cv::extractChannel(decoded.samples, alpha, 3);
    decoded.has_alpha = has_alpha && cv::countNonZero(alpha) > 0;
    if (!decoded.has_alpha) cv::cvtColor(decoded.samples, decoded.samples, cv::COLOR_RGBA2RGB);
  }
  return decoded;
}

}  // namespace diacut
