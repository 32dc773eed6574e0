#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "core/extension.hpp"
#include "core/parallel.hpp"
#include "diacut/output.hpp"
#include "output/format.hpp"
#include "output/picture.hpp"
#include "output/png.hpp"

namespace diacut {
namespace {

/// The least alpha of a pixel of a region: one that is a pixel wide stays visible.
constexpr std::uint8_t kLeastInside = 128;

/// 255 at the pixels of some regions, 0 elsewhere.
cv::Mat1b mask_of(const Image& image, const Labels& labels, const std::vector<std::int32_t>& of) {
  std::vector<bool> chosen(static_cast<std::size_t>(labels.count) + 1);
  for (const std::int32_t label : of) {
    if (label < 1 || label > labels.count) {
      throw InputError(fmt::format("there is no region {}: they are 1 to {}", label, labels.count));
    }
    chosen[static_cast<std::size_t>(label)] = true;
  }
  cv::Mat1b mask(labels.height, labels.width);
  std::size_t at = 0;
  for (std::uint8_t& pixel : mask) {
    pixel = chosen[labels.values[at]] && image.has_data(at) ? 255 : 0;
    ++at;
  }
  return mask;
}

/// The mean colour of the pixels of a mask around one that is outside of it.
cv::Vec3b colour_beside(const cv::Mat3b& rgb, const cv::Mat1b& mask, int x, int y) {
  cv::Vec3i sum = cv::Vec3i::all(0);
  int count = 0;
  for (int v = std::max(y - 1, 0); v <= std::min(y + 1, rgb.rows - 1); ++v) {
    for (int u = std::max(x - 1, 0); u <= std::min(x + 1, rgb.cols - 1); ++u) {
      if (mask(v, u) == 0) continue;
      sum += cv::Vec3i(rgb(v, u));
      ++count;
    }
  }
  return (sum + cv::Vec3i::all(count / 2)) / count;
}

/// A region and those within its holes, ascending.
std::vector<std::int32_t> with_enclosed(std::int32_t region, const Labels& labels) {
  const cv::Mat1i of(labels.height, labels.width, const_cast<std::int32_t*>(labels.values.data()));
  // The parts of what is not of the region, and beyond the picture's edge one that is outside.
  cv::Mat1b others;
  cv::copyMakeBorder(of != region, others, 1, 1, 1, 1, cv::BORDER_CONSTANT, cv::Scalar(255));
  cv::Mat1i parts;
  cv::connectedComponents(others, parts, 4, CV_32S);
  std::vector<bool> chosen(static_cast<std::size_t>(labels.count) + 1);
  chosen[static_cast<std::size_t>(region)] = true;
  for (int y = 0; y < of.rows; ++y) {
    for (int x = 0; x < of.cols; ++x) {
      const int part = parts(y + 1, x + 1);
      if (part != 0 && part != parts(0, 0)) chosen[static_cast<std::size_t>(of(y, x))] = true;
    }
  }
  std::vector<std::int32_t> all;
  for (std::int32_t label = 1; label <= labels.count; ++label) {
    if (chosen[static_cast<std::size_t>(label)]) all.push_back(label);
  }
  return all;
}

}  // namespace

std::vector<std::uint8_t> cutout_picture(const Image& image, const Labels& labels,
                                         const std::vector<std::int32_t>& of) {
  check_one_size("image", image.width, image.height, "labels", labels.width, labels.height);
  const cv::Mat3b rgb = to_rgb(image);
  const cv::Mat1b mask = mask_of(image, labels, of);
  cv::Mat1b alpha;
  cv::GaussianBlur(mask, alpha, {3, 3}, 0, 0, cv::BORDER_REPLICATE);
  std::vector<std::uint8_t> picture(4 * labels.values.size());
  parallel_for(rgb.rows, [&](int y) {
    std::uint8_t* to = &picture[4 * static_cast<std::size_t>(y) * rgb.cols];
    for (int x = 0; x < rgb.cols; ++x, to += 4) {
      if (alpha(y, x) == 0) continue;
      const bool inside = mask(y, x) != 0;
      const cv::Vec3b colour = inside ? rgb(y, x) : colour_beside(rgb, mask, x, y);
      std::copy_n(colour.val, 3, to);
      to[3] = inside ? std::max(alpha(y, x), kLeastInside) : alpha(y, x);
    }
  });
  return picture;
}

void write_cutout(const std::string& path, const Image& image, const Labels& labels,
                  const std::vector<std::int32_t>& of) {
  if (path != "-") check_extension(path, "cut-outs", ".png");
  write_file(path, encode_for(path, [&] {
               return encode_png(image.width, image.height, 4, cutout_picture(image, labels, of));
             }));
}

std::vector<std::int32_t> foreground(const Labels& labels) {
  struct Found {
    std::int64_t area = 0;
    std::array<bool, 4> meets = {};
    auto sides() const {
      return std::max<std::ptrdiff_t>(2, std::count(meets.begin(), meets.end(), true));
    }
  };
  std::vector<Found> found(static_cast<std::size_t>(labels.count) + 1);
  std::size_t at = 0;
  for (int y = 0; y < labels.height; ++y) {
    for (int x = 0; x < labels.width; ++x, ++at) {
      Found& region = found[labels.values[at]];
      ++region.area;
      if (x == 0) region.meets[0] = true;
      if (x == labels.width - 1) region.meets[1] = true;
      if (y == 0) region.meets[2] = true;
      if (y == labels.height - 1) region.meets[3] = true;
    }
  }
  const auto best =
      std::min_element(found.begin() + 1, found.end(), [](const auto& a, const auto& b) {
        return a.sides() != b.sides() ? a.sides() < b.sides() : a.area > b.area;
      });
  if (best == found.end()) return {};
  return with_enclosed(static_cast<std::int32_t>(best - found.begin()), labels);
}

}  // namespace diacut
