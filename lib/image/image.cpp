#include "diacut/image.hpp"

#include <fmt/format.h>

#include <new>

#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/format.hpp"
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

Decoded decode(Bytes file, std::int64_t max_pixels) {
  switch (identify_format(file)) {
    case ImageFormat::kBmp:
      return decode_bmp(file, max_pixels);
    case ImageFormat::kJpeg:
      return decode_jpeg(file, max_pixels);
    case ImageFormat::kPng:
      return decode_png(file, max_pixels);
    case ImageFormat::kTiff:
      return decode_tiff(file, max_pixels);
    case ImageFormat::kWebp:
      break;
  }
  return decode_webp(file, max_pixels);
}

/// What `read` returns; what it throws becomes an InputError that begins with `name`.
template <typename Read>
auto with_name(const std::string& name, Read read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  } catch (const std::bad_alloc&) {
    throw InputError(fmt::format("{}: there is not enough memory to read it", name));
  } catch (const cv::Exception& error) {
    // OpenCV throws this when memory is short.
    throw InputError(fmt::format("{}: cannot be decoded ({})", name, error.err));
  }
}

}  // namespace

Image decode_image(const std::vector<std::uint8_t>& bytes, const std::string& name,
                   const ImageParameters& parameters) {
  return with_name(name, [&] {
    Decoded decoded = decode(bytes, parameters.max_pixels);
    decoded.samples = turn_upright(decoded.samples, decoded.orientation);
    return to_image(decoded, parameters.range);
  });
}

Image read_image(const std::string& path, const ImageParameters& parameters) {
  const std::string name = path == "-" ? "standard input" : path;
  const std::vector<std::uint8_t> bytes = with_name(
      name, [&] { return read_bytes(path, kFormatHead, identify_format, "an image file"); });
  return decode_image(bytes, name, parameters);
}

}  // namespace diacut
