#include "image/decode.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <system_error>

#include "diacut/errors.hpp"
#include "image/format.hpp"
#include "image/profile.hpp"

namespace diacut {
namespace {

cv::Mat turn_upright(const cv::Mat& stored, int orientation) {
  enum Flip { kUpsideDown = 0, kSideways = 1, kBoth = -1 };
  cv::Mat upright = stored;
  if (orientation >= 5) cv::transpose(stored, upright);
  switch (orientation) {
    case 2:
    case 6:
      cv::flip(upright, upright, kSideways);
      break;
    case 3:
    case 7:
      cv::flip(upright, upright, kBoth);
      break;
    case 4:
    case 8:
      cv::flip(upright, upright, kUpsideDown);
      break;
    default:
      break;
  }
  return upright;
}

/// What the decoder of the file's format reads, of the formats that hold one page.
Decoded decode_single(ImageFormat format, Bytes file, const SizeLimit& limit) {
  switch (format) {
    case ImageFormat::kBmp:
      return decode_bmp(file, limit);
    case ImageFormat::kJpeg:
      return decode_jpeg(file, limit);
    case ImageFormat::kJpeg2000:
      return decode_jpeg2000(file, limit);
    case ImageFormat::kPng:
      return decode_png(file, limit);
    case ImageFormat::kRaw:
      return decode_raw(file, limit);
    default:
      return decode_webp(file, limit);
  }
}

/// Leaves one channel, as grey. `channel`: its number, from 1.
void extract_channel(const std::string& channel, Decoded& decoded) {
  const int channels = decoded.samples.channels();
  int number = 0;
  const char* end = channel.data() + channel.size();
  const auto [stop, error] = std::from_chars(channel.data(), end, number);
  if (error != std::errc() || stop != end || number < 1 || number > channels) {
    throw InputError(
        fmt::format("it has no channel '{}': its channels are 1 to {}", channel, channels));
  }
  cv::Mat only;
  cv::extractChannel(decoded.samples, only, number - 1);
  decoded.samples = only;
  decoded.has_alpha = false;
  decoded.premultiplied = false;
  decoded.profile.clear();  // It says what the channels are together.
}

Decoded decode_page(ImageFormat format, Bytes file, const SizeLimit& limit, int page) {
  switch (format) {
    case ImageFormat::kGif:
      return decode_gif(file, limit, page);
    case ImageFormat::kHeif:
      return decode_heif(file, limit, page);
    case ImageFormat::kJxl:
      return decode_jxl(file, limit, page);
    case ImageFormat::kPnm:
      return decode_pnm(file, limit, page);
    default:
      choose_page(page, 1);
      return decode_single(format, file, limit);
  }
}

ImageFormat format_of(Bytes file) {
  const ImageFormat format = identify_format(file);
  return format == ImageFormat::kTiff && is_raw_tiff(file) ? ImageFormat::kRaw : format;
}

Decoded decode_part(ImageFormat format, Bytes file, const SizeLimit& limit, const ImagePart& part) {
  const bool is_tiff = format == ImageFormat::kTiff;
  Decoded decoded =
      is_tiff ? decode_tiff(file, limit, part) : decode_page(format, file, limit, part.page);
  // A TIFF may have more channels than are decoded without a choice.
  if (!is_tiff && !part.channel.empty()) extract_channel(part.channel, decoded);
  if (part.page == 0 && decoded.pages > 1) {
    decoded.notes.push_back(fmt::format(
        "The file has {} pages: the first was read (--page N reads another).", decoded.pages));
  }
  return decoded;
}

Decoded only_pages(int pages) {
  Decoded decoded;
  decoded.pages = pages;
  return decoded;
}

Decoded count_pages(ImageFormat format, Bytes file, const SizeLimit& limit, const ImagePart& part) {
  switch (format) {
    case ImageFormat::kTiff:
      return only_pages(count_tiff_pages(file, limit, part));
    case ImageFormat::kGif:
    case ImageFormat::kHeif:
    case ImageFormat::kJxl:
    case ImageFormat::kPnm:
      return only_pages(decode_part(format, file, limit, part).pages);
    default:
      return only_pages(1);
  }
}

Decoded decode_numbers(Bytes file, const SizeLimit& limit) {
  const ImageFormat format = identify_format(file);
  if (format == ImageFormat::kTiff) return decode_tiff(file, limit, {}, true);
  if (format == ImageFormat::kPng) return decode_png(file, limit, true);
  throw InputError("expected PNG, TIFF or .npy (others do not keep numbers as they are)");
}

}  // namespace

Decoded decode(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  const bool numbers = task.purpose == DecodeTask::kRaster;
  const ImageFormat format = numbers ? ImageFormat::kPng : format_of(file);
  if (task.purpose == DecodeTask::kPages) return count_pages(format, file, limit, task.part);
  Decoded decoded =
      numbers ? decode_numbers(file, limit) : decode_part(format, file, limit, task.part);
  if (task.purpose == DecodeTask::kPicture) apply_profile(decoded);
  decoded.samples = turn_upright(decoded.samples, decoded.orientation);
  return decoded;
}

}  // namespace diacut
