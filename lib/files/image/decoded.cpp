#include "image/decoded.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "diacut/errors.hpp"
#include "image/tiff_directory.hpp"

namespace diacut {

void check_size(std::int64_t width, std::int64_t height, const SizeLimit& limit, int channels) {
  const std::int64_t max_pixels = limit.max_pixels;
  if (width <= 0 || height <= 0) {
    throw InputError(
        fmt::format("its header claims {} x {} pixels: the file is damaged, or has no "
                    "picture",
                    width, height));
  }
  // Divided, because the product may not fit the type.
  if (width > max_pixels / height || std::max(width, height) > std::numeric_limits<int>::max()) {
    throw InputError(
        fmt::format("its header claims {} x {} pixels, more than the limit of {}: "
                    "scale or crop it, or raise image.max_pixels",
                    width, height, max_pixels));
  }
  if (limit.accepts) {
    limit.accepts({static_cast<int>(width), static_cast<int>(height), channels});
  }
}

TypeRange range_of(int depth) {
  if (depth == CV_16F || depth == CV_32F || depth == CV_64F) return std::nullopt;
  const double half = std::ldexp(1.0, 8 * CV_ELEM_SIZE1(depth) - 1);
  const bool is_signed = depth == CV_8S || depth == CV_16S || depth == CV_32S;
  return std::pair{is_signed ? -half : 0, is_signed ? half - 1 : 2 * half - 1};
}

void leave_out(const cv::Mat& kept, Decoded& decoded) {
  const cv::Mat valid = kept != 0;
  if (decoded.valid.empty()) {
    decoded.valid = valid;
  } else {
    decoded.valid &= valid;
  }
}

double full_alpha(double most, const TypeRange& type_range) {
  const double largest = type_range ? type_range->second : std::numeric_limits<double>::infinity();
  for (const double usual : {1.0, 255.0, 65535.0}) {
    if (most <= usual) return std::min(usual, largest);
  }
  return type_range ? largest : most;
}

double full_alpha(const Decoded& decoded) {
  double most = 0;
  cv::Mat1d row;
  const int channels = decoded.samples.channels();
  for (int y = 0; y < decoded.samples.rows; ++y) {
    // The first row mostly has a pixel that decides it.
    if (decoded.type_range && full_alpha(most, decoded.type_range) == decoded.type_range->second) {
      break;
    }
    decoded.samples.row(y).reshape(1).convertTo(row, CV_64F);
    for (int at = channels - 1; at < row.cols; at += channels) {
      if (std::isfinite(row(at))) most = std::max(most, row(at));
    }
  }
  return full_alpha(most, decoded.type_range);
}

cv::Mat1b pixels_with_data(const Decoded& decoded) {
  if (!decoded.has_alpha) return decoded.valid;
  cv::Mat alpha;
  cv::extractChannel(decoded.samples, alpha, decoded.colours());
  cv::Mat opaque = alpha >= full_alpha(decoded) / 2;
  if (!decoded.valid.empty()) opaque &= decoded.valid;
  return opaque;
}

int choose_page(int asked, int pages) {
  if (asked > pages) {
    throw InputError(pages == 1
                         ? fmt::format("it has one page: there is no page {}", asked)
                         : fmt::format("it has {} pages: there is no page {}", pages, asked));
  }
  return std::max(asked, 1);
}

void note_animation(int page, Decoded& decoded) {
  if (page > 1) {
    throw InputError(
        "it is an animation of which only the first frame is read: save the frames as pictures, as "
        "with ffmpeg");
  }
  decoded.notes.emplace_back("It is an animation: its first frame alone was read.");
}

void refuse_damaged(std::string_view format, std::string_view why) {
  throw InputError(
      fmt::format("the {} file is damaged or cut off ({}): copy or save it again", format, why));
}

void check_deflated(Bytes packed, std::size_t most) {
  std::vector<std::uint8_t> held(most);
  auto size = static_cast<uLongf>(most);
  auto used = static_cast<uLong>(packed.size());
  if (uncompress2(held.data(), &size, packed.data(), &used) == Z_OK) return;
  refuse_damaged("TIFF", "the checksum of what Deflate packed is another");
}

int exif_orientation(Bytes block) {
  using std::string_view_literals::operator""sv;
  constexpr std::uint32_t kOrientationTag = 0x0112;
  if (has_text(block, 0, "Exif\0\0"sv)) block = block.subspan(6);
  // The block is a small TIFF file.
  if (!has_text(block, 0, "II*\0"sv) && !has_text(block, 0, "MM\0*"sv)) return 1;
  const TiffDirectories tiff(block);
  for (const TiffDirectories::Entry& entry : tiff.entries(tiff.first())) {
    if (entry.tag != kOrientationTag) continue;
    return entry.value >= 1 && entry.value <= 8 ? static_cast<int>(entry.value) : 1;
  }
  return 1;
}

}  // namespace diacut
