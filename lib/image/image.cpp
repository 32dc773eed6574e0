#include "diacut/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/format.hpp"

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

/// The values of the pixels that have data, smallest to largest, all channels together.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

/// Samples of type T as numbers: straight colours, and what has no data.
template <typename T>
class Samples {
 public:
  explicit Samples(const Decoded& decoded)
      : decoded_(decoded), colours_(decoded.samples.channels() - (decoded.has_alpha ? 1 : 0)) {
    if (decoded.type_range) {
      alpha_low_ = decoded.type_range->first;
      alpha_high_ = decoded.type_range->second;
    } else if (decoded.has_alpha) {
      alpha_high_ = std::max(1.0, largest_alpha());
    }
  }

  int colours() const { return colours_; }
  const T* pixel(int y, int x) const { return decoded_.samples.ptr<T>(y, x); }

  bool is_transparent(const T* pixel) const {
    return decoded_.has_alpha && !(opacity(pixel) >= 0.5);
  }
  bool is_finite(const T* pixel) const {
    return std::all_of(pixel, pixel + colours_,
                       [](T sample) { return std::isfinite(static_cast<double>(sample)); });
  }
  /// Precondition: is_finite(pixel) and not is_transparent(pixel).
  double colour(const T* pixel, int channel) const {
    const auto stored = static_cast<double>(pixel[channel]);
    if (!decoded_.premultiplied) return stored;
    const double straight = stored / opacity(pixel);
    return decoded_.type_range ? std::min(straight, decoded_.type_range->second) : straight;
  }

 private:
  double opacity(const T* pixel) const {
    return (static_cast<double>(pixel[colours_]) - alpha_low_) / (alpha_high_ - alpha_low_);
  }
  double largest_alpha() const {
    double largest = 0;
    for (int y = 0; y < decoded_.samples.rows; ++y) {
      for (int x = 0; x < decoded_.samples.cols; ++x) {
        const auto alpha = static_cast<double>(pixel(y, x)[colours_]);
        if (std::isfinite(alpha)) largest = std::max(largest, alpha);
      }
    }
    return largest;
  }

  const Decoded& decoded_;
  int colours_;
  double alpha_low_ = 0;
  double alpha_high_ = 1;
};

/// Marks what has no data in image.valid, and tells of it in image.notes. Returns the range of the
/// rest.
template <typename T>
Range find_valid(const Samples<T>& samples, Image& image) {
  Range range;
  std::size_t transparent = 0;
  std::size_t not_finite = 0;
  image.valid.assign(image.pixel_count(), 1);
  std::uint8_t* valid = image.valid.data();
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x, ++valid) {
      const T* pixel = samples.pixel(y, x);
      if (samples.is_transparent(pixel)) {
        ++transparent;
        *valid = 0;
      } else if (!samples.is_finite(pixel)) {
        ++not_finite;
        *valid = 0;
      } else {
        for (int channel = 0; channel < image.channels; ++channel) {
          const double value = samples.colour(pixel, channel);
          range.low = std::min(range.low, value);
          range.high = std::max(range.high, value);
        }
      }
    }
  }
  const std::size_t count = image.pixel_count();
  if (transparent + not_finite == count) {
    throw InputError(
        fmt::format("nothing to segment: of {} pixels {} are transparent and {} are not finite",
                    count, transparent, not_finite));
  }
  if (transparent + not_finite == 0) image.valid.clear();
  if (transparent > 0) {
    image.notes.push_back(
        fmt::format("{} of {} pixels are transparent: they have no data.", transparent, count));
  }
  if (not_finite > 0) {
    image.notes.push_back(fmt::format(
        "{} of {} pixels are not finite (NaN or infinite): they have no data.", not_finite, count));
  }
  return range;
}

/// What becomes 0 and 1, given the values that there are.
Range choose_range(const Decoded& decoded, const Range& found, ValueRange rule, Image& image) {
  if (rule == ValueRange::kData) return found;
  if (decoded.type_range) {
    const auto [low, high] = *decoded.type_range;
    // Twelve bits of a camera stored in sixteen, say.
    constexpr double kSmallShare = 1.0 / 15;
    if (high - low > 255 && found.high > found.low &&
        found.high - found.low < kSmallShare * (high - low)) {
      image.notes.push_back(fmt::format(
          "Its values, {:.6g} to {:.6g}, take up little of {:.6g} to {:.6g}: the picture is flat "
          "unless image.range is \"data\".",
          found.low, found.high, low, high));
    }
    return {low, high};
  }
  if (found.low >= 0 && found.high <= 1) return {0, 1};
  if (rule == ValueRange::kType) {
    throw InputError(fmt::format(
        "its values run from {:.6g} to {:.6g}, where image.range \"type\" expects floats within "
        "[0, 1]: set image.range to \"data\" or \"auto\"",
        found.low, found.high));
  }
  image.notes.push_back(fmt::format("Its values, {:.6g} to {:.6g}, were brought into [0, 1].",
                                    found.low, found.high));
  return found;
}

template <typename T>
void convert(const Decoded& decoded, ValueRange rule, Image& image) {
  const Samples<T> samples(decoded);
  image.channels = samples.colours();
  const Range range = choose_range(decoded, find_valid(samples, image), rule, image);
  // Halves, because the difference of two doubles may be too large for one.
  const double extent = range.high / 2 - range.low / 2;
  image.pixels.assign(image.pixel_count() * static_cast<std::size_t>(image.channels), 0.0f);
  float* out = image.pixels.data();
  std::size_t index = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x, ++index, out += image.channels) {
      if (!image.valid.empty() && image.valid[index] == 0) continue;
      const T* pixel = samples.pixel(y, x);
      for (int channel = 0; channel < image.channels; ++channel) {
        const double value = samples.colour(pixel, channel);
        const double share = extent > 0 ? (value / 2 - range.low / 2) / extent : 0;
        out[channel] = static_cast<float>(decoded.zero_is_white ? 1 - share : share);
      }
    }
  }
}

Image to_image(const Decoded& decoded, ValueRange rule) {
  Image image;
  image.width = decoded.samples.cols;
  image.height = decoded.samples.rows;
  image.notes = decoded.notes;
  switch (decoded.samples.depth()) {
    case CV_8U:
      convert<std::uint8_t>(decoded, rule, image);
      break;
    case CV_8S:
      convert<std::int8_t>(decoded, rule, image);
      break;
    case CV_16U:
      convert<std::uint16_t>(decoded, rule, image);
      break;
    case CV_16S:
      convert<std::int16_t>(decoded, rule, image);
      break;
    case CV_32S:
      convert<std::int32_t>(decoded, rule, image);
      break;
    case CV_32F:
      convert<float>(decoded, rule, image);
      break;
    default:
      convert<double>(decoded, rule, image);
      break;
  }
  return image;
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
