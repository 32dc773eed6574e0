#include <fmt/format.h>
#include <webp/decode.h>

#include "diacut/errors.hpp"
#include "image/decoded.hpp"

namespace diacut {
namespace {

/// Takes the orientation and the colour profile from the chunks of a file (RFC 9649). Holds the
/// size in its extended header against the limit, because libwebp reads none that is too large.
void read_chunks(Bytes file, const SizeLimit& limit, Decoded& decoded) {
  constexpr std::size_t kChunkHeader = 8;
  constexpr std::size_t kFirst = 12;
  const auto field = [&](std::size_t at, std::size_t size) {
    if (at + size > file.size()) refuse_damaged("WebP", "the data end within the header");
    return read_uint(file, at, size, ByteOrder::kLittle);
  };
  const std::size_t end = kChunkHeader + std::size_t{field(4, 4)};
  if (end > file.size()) {
    refuse_damaged("WebP", fmt::format("{} bytes, expected {}", file.size(), end));
  }
  if (has_text(file, kFirst, "VP8X")) {
    constexpr std::uint32_t kAnimated = 2;
    const std::size_t data = kFirst + kChunkHeader;
    if ((field(data, 1) & kAnimated) != 0) {
      throw InputError("an animated WebP, which is not supported: save one frame of it");
    }
    check_size(std::int64_t{field(data + 4, 3)} + 1, std::int64_t{field(data + 7, 3)} + 1, limit);
  }
  for (std::size_t at = kFirst; at + kChunkHeader <= end;) {
    const std::size_t size = field(at + 4, 4);
    if (size > end - at - kChunkHeader) refuse_damaged("WebP", "a part is longer than the whole");
    const Bytes chunk = file.subspan(at + kChunkHeader, size);
    if (has_text(file, at, "ICCP")) decoded.profile.assign(chunk.begin(), chunk.end());
    if (has_text(file, at, "EXIF")) {
      decoded.orientation = exif_orientation(chunk);
      break;
    }
    at += kChunkHeader + size + size % 2;
  }
}

}  // namespace

Decoded decode_webp(Bytes file, const SizeLimit& limit, const DecodeTask& /*task*/) {
  Decoded decoded;
  read_chunks(file, limit, decoded);
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) {
    refuse_damaged("WebP", "no picture follows its header");
  }
  check_size(features.width, features.height, limit);
  decoded.has_alpha = features.has_alpha != 0;
  cv::Mat& samples = decoded.samples;
  samples.create(features.height, features.width, decoded.has_alpha ? CV_8UC4 : CV_8UC3);
  const auto decode = decoded.has_alpha ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (decode(file.data(), file.size(), samples.data, samples.total() * samples.elemSize(),
             static_cast<int>(samples.step)) == nullptr) {
    refuse_damaged("WebP", "its data cannot be decoded");
  }
  return decoded;
}

}  // namespace diacut
