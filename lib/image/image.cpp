#include "diacut/image.hpp"

#include <fmt/format.h>

#include <charconv>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/file_bytes.hpp"
#include "core/mapped_file.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "image/decoded.hpp"
#include "image/format.hpp"
#include "image/numbers.hpp"
#include "image/profile.hpp"
#include "image/values.hpp"

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

Decoded decode(Bytes file, const SizeLimit& limit, const ImagePart& part) {
  const ImageFormat format = format_of(file);
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

/// What `read` returns; what it throws becomes an InputError that begins with `name`. A DeviceError
/// stays one.
template <typename Read>
auto with_name(const std::string& name, Read read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  } catch (const DeviceMemoryError& error) {
    throw DeviceMemoryError(fmt::format("{}: {}", name, error.what()));
  } catch (const DeviceError& error) {
    throw DeviceError(fmt::format("{}: {}", name, error.what()), error.build_log());
  } catch (const std::bad_alloc&) {
    throw InputError(fmt::format("{}: there is not enough memory to read it", name));
  } catch (const cv::Exception& error) {
    // OpenCV throws this when memory is short.
    throw InputError(fmt::format("{}: cannot be decoded ({})", name, error.err));
  }
}

struct NamedBytes {
  std::vector<std::uint8_t> bytes;
  std::string name;
};

/// The bytes of an image file, and what messages call it.
NamedBytes read_file_bytes(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  return {
      with_name(name,
                [&] { return read_bytes(path, kFormatHead, identify_format, "an image file"); }),
      name};
}

/// What `accepts` is told of a file of `file_bytes`.
SizeLimit limit_of(const ImageParameters& parameters, const SizeCheck& accepts,
                   std::uint64_t file_bytes) {
  if (!accepts) return parameters.max_pixels;
  return {parameters.max_pixels, [&accepts, file_bytes](const ImageSize& size) {
            accepts({size.width, size.height, size.channels, file_bytes});
          }};
}

/// From this size on, a file is not read before its header was looked at.
constexpr std::uint64_t kLargeFile = std::uint64_t{1} << 24;

/// Throws what decode_image() would throw of a large file before it takes memory for the picture.
void check_large_file(const std::string& path, const ImageParameters& parameters,
                      const ImagePart& part, const SizeCheck& accepts) {
  struct SizeIsAccepted {};
  if (path == "-") return;
  const auto file = MappedFile::open(path, kLargeFile);
  if (!file) return;
  const Bytes bytes = file->bytes();
  const SizeLimit limit = limit_of(parameters, accepts, bytes.size());
  const auto stop = [&limit](const ImageSize& size) {
    if (limit.accepts) limit.accepts(size);
    throw SizeIsAccepted();
  };
  with_name(path, [&] {
    try {
      decode(bytes, {limit.max_pixels, stop}, part);
    } catch (const SizeIsAccepted&) {  // The rest of the file is of interest too.
    }
  });
}

}  // namespace

Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& name,
                   const ImageParameters& parameters, const ImagePart& part,
                   const SizeCheck& accepts) {
  return with_name(name, [&] {
    Decoded decoded = decode(bytes, limit_of(parameters, accepts, bytes.size()), part);
    apply_profile(decoded);
    decoded.samples = turn_upright(decoded.samples, decoded.orientation);
    return to_image(decoded, parameters.range);
  });
}

int count_pages(const std::string& path, const ImageParameters& parameters,
                const std::string& channel) {
  const auto mapped = MappedFile::open(path, 1);
  // What cannot be mapped is read, or refused with the reason.
  const std::vector<std::uint8_t> read =
      mapped ? std::vector<std::uint8_t>() : read_file_bytes(path).bytes;
  const Bytes bytes = mapped ? mapped->bytes() : Bytes(read);
  return with_name(path, [&] {
    const ImagePart first{1, channel};
    switch (format_of(bytes)) {
      case ImageFormat::kTiff:
        return count_tiff_pages(bytes, parameters.max_pixels, first);
      case ImageFormat::kGif:
      case ImageFormat::kHeif:
      case ImageFormat::kJxl:
      case ImageFormat::kPnm:
        return decode(bytes, parameters.max_pixels, first).pages;
      default:
        return 1;
    }
  });
}

Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& name,
                   const ImageParameters& parameters) {
  return decode_image(bytes, name, parameters, {});
}

Image read_image(const std::string& path, const ImageParameters& parameters, const ImagePart& part,
                 const SizeCheck& accepts) {
  check_large_file(path, parameters, part, accepts);
  const auto [bytes, name] = read_file_bytes(path);
  return decode_image(bytes, name, parameters, part, accepts);
}

Image read_image(const std::string& path, const ImageParameters& parameters) {
  return read_image(path, parameters, {});
}

ImageFile::ImageFile(const std::string& path) {
  auto [bytes, name] = read_file_bytes(path);
  bytes_ = std::move(bytes);
  name_ = std::move(name);
}

Image ImageFile::read(const ImageParameters& parameters, const ImagePart& part,
                      const SizeCheck& accepts) const {
  return decode_image(bytes_, name_, parameters, part, accepts);
}

Image read_numbers(const std::string& path, const ImageParameters& parameters) {
  const auto [bytes, name] = read_file_bytes(path);
  return with_name(name, [&, &file = bytes] {
    Decoded decoded = decode(file, parameters.max_pixels, {});
    decoded.samples = turn_upright(decoded.samples, decoded.orientation);
    return to_image(decoded, parameters.range);
  });
}

}  // namespace diacut
