#include <fmt/format.h>
#include <webp/decode.h>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

constexpr std::size_t kChunkHeader = 8;

struct WebpSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

/// The sizes in the first chunk (RFC 9649). Takes the orientation and the colour profile
/// from any chunk.
WebpSize read_webp_header(Bytes file, Decoded& decoded) {
  const auto field = [&](std::size_t at, std::size_t size) {
    if (at + size > file.size()) refuse_damaged("WebP", "the data end within the header");
    return read_uint(file, at, size, ByteOrder::kLittle);
  };
  const std::size_t riff_end = kChunkHeader + std::size_t{field(4, 4)};
  if (riff_end > file.size()) {
    refuse_damaged("WebP", fmt::format("{} bytes, expected {}", file.size(), riff_end));
  }
  const std::size_t first = 12;
  const std::size_t data = first + kChunkHeader;
  WebpSize header;
  if (has_text(file, first, "VP8X")) {
    constexpr std::uint32_t kAnimated = 2;
    if ((field(data, 1) & kAnimated) != 0) {
      throw InputError("an animated WebP, which is not supported: save one frame of it");
    }
    header.width = std::int64_t{field(data + 4, 3)} + 1;
    header.height = std::int64_t{field(data + 7, 3)} + 1;
  } else if (has_text(file, first, "VP8L")) {
    const std::uint32_t sizes = field(data + 1, 4);
    header.width = (sizes & 0x3fff) + 1;
    header.height = (sizes >> 14 & 0x3fff) + 1;
  } else if (has_text(file, first, "VP8 ")) {
    header.width = field(data + 6, 2) & 0x3fff;
    header.height = field(data + 8, 2) & 0x3fff;
  } else {
    refuse_damaged("WebP", "no picture follows its header");
  }
  for (std::size_t at = first; at + kChunkHeader <= riff_end;) {
    const std::size_t size = field(at + 4, 4);
    if (size > riff_end - at - kChunkHeader)
      refuse_damaged("WebP", "a part is longer than the whole");
    const Bytes chunk = file.subspan(at + kChunkHeader, size);
    if (has_text(file, at, "ICCP")) decoded.profile.assign(chunk.begin(), chunk.end());
    if (has_text(file, at, "EXIF")) {
      decoded.orientation = exif_orientation(chunk);
      break;
    }
    at += kChunkHeader + size + size % 2;
  }
  return header;
}

}  // namespace

Decoded decode_webp(Bytes file, const SizeLimit& limit, const DecodeTask& /*task*/) {
  Decoded decoded;
  const WebpSize header = read_webp_header(file, decoded);
  check_size(header.width, header.height, limit);
  WebPBitstreamFeatures features;
  const bool is_known = WebPGetFeatures(file.data(), file.size(), &features) == VP8_STATUS_OK;
  decoded.has_alpha = is_known && features.has_alpha != 0;
  cv::Mat& samples = decoded.samples;
  samples.create(static_cast<int>(header.height), static_cast<int>(header.width),
                 decoded.has_alpha ? CV_8UC4 : CV_8UC3);
  const auto decode = decoded.has_alpha ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (!is_known || features.width != samples.cols || features.height != samples.rows ||
      decode(file.data(), file.size(), samples.data, samples.total() * samples.elemSize(),
             static_cast<int>(samples.step)) == nullptr) {
    refuse_damaged("WebP", "its data cannot be decoded");
  }
  return decoded;
}

}  // namespace diacut
