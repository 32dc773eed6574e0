#include "output/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/extension.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "image/colour.hpp"

namespace diacut {

PictureFormat picture_format(const std::string& path) {
  if (path == "-" || has_extension(path, ".png")) return PictureFormat::kPng;
  check_extension(path, "pictures", ".png, .jpg, .jpeg");
  return PictureFormat::kJpeg;
}

cv::Mat3b to_rgb(const Image& image) {
  constexpr std::uint8_t kLight = 204, kDark = 178;
  const int square = std::clamp(std::min(image.width, image.height) / 40, 2, 16);
  cv::Mat3b rgb(image.height, image.width);
  parallel_for(image.height, [&](int y) {
    for (int x = 0; x < image.width; ++x) {
      const std::size_t pixel = static_cast<std::size_t>(y) * image.width + x;
      if (!image.has_data(pixel)) {
        rgb(y, x) = cv::Vec3b::all((x / square + y / square) % 2 == 0 ? kLight : kDark);
        continue;
      }
      const float* values = &image.pixels[pixel * image.channels];
      for (int c = 0; c < 3; ++c) {
        const float value = values[image.channels == 3 ? c : 0];
        rgb(y, x)[c] = cv::saturate_cast<std::uint8_t>(value * 255.0F);
      }
    }
  });
  return rgb;
}

cv::Mat1b boundary_mask(const Labels& labels) {
  cv::Mat1b mask(labels.height, labels.width, std::uint8_t{0});
  for (int y = 0; y < labels.height; ++y) {
    const std::int32_t* row = &labels.values[static_cast<std::size_t>(y) * labels.width];
    for (int x = 0; x < labels.width; ++x) {
      const bool right = x + 1 < labels.width && row[x + 1] != row[x];
      const bool below = y + 1 < labels.height && row[x + labels.width] != row[x];
      if (right || below) mask(y, x) = 255;
    }
  }
  return mask;
}

std::vector<std::uint8_t> encode_rgb(const cv::Mat3b& rgb, PictureFormat format) {
  if (format == PictureFormat::kPng) {
    return encode_png(rgb.cols, rgb.rows, 3, std::vector<std::uint8_t>(rgb.datastart, rgb.dataend));
  }
  // Checked here, because the encoder's own error would not say why.
  constexpr int kLargestJpeg = 65'500;
  if (std::max(rgb.cols, rgb.rows) > kLargestJpeg) {
    throw InputError("a JPEG is at most 65500 pixels wide and high; write the picture as .png");
  }
  return encode_jpeg(rgb);
}

namespace {

constexpr int kStep = 15;                       // 18 levels a channel: 0, 15, ..., 255.
constexpr float kDarkest = 30, kLightest = 92;  // Lightness in Lab.
constexpr float kStrongest = 75;                // Chroma.
/// The least distance in Lab between a colour and the kRecent colours before it.
constexpr float kRecentDistance = 40;
constexpr std::size_t kRecent = 4;

struct Candidate {
  Colour colour;
  cv::Vec3f lab;
  float distance = std::numeric_limits<float>::max();  ///< To the nearest chosen colour, in Lab.
};

std::vector<Candidate> candidates() {
  Image rgb;
  rgb.height = 1;
  rgb.channels = 3;
  for (int r = 0; r <= 255; r += kStep) {
    for (int g = 0; g <= 255; g += kStep) {
      for (int b = 0; b <= 255; b += kStep) {
        for (const int value : {r, g, b}) rgb.pixels.push_back(static_cast<float>(value) / 255.0F);
        ++rgb.width;
      }
    }
  }
  const std::size_t count = rgb.pixel_count();
  const std::vector<float> lab = lab_planes(rgb);
  std::vector<Candidate> result;
  for (std::size_t k = 0; k < count; ++k) {
    // Whole units, so that the last bit of a library's arithmetic decides nothing.
    const cv::Vec3f rounded(std::round(lab[k]), std::round(lab[k + count]),
                            std::round(lab[k + 2 * count]));
    if (rounded[0] < kDarkest || rounded[0] > kLightest) continue;
    if (std::hypot(rounded[1], rounded[2]) > kStrongest) continue;
    Candidate& candidate = result.emplace_back();
    candidate.lab = rounded;
    for (std::size_t c = 0; c < 3; ++c) {
      candidate.colour[c] = static_cast<std::uint8_t>(std::lround(rgb.pixels[3 * k + c] * 255.0F));
    }
  }
  return result;
}

}  // namespace

std::vector<Colour> distinct_colours(int count) {
  std::vector<Colour> colours = {{0, 0, 0}};
  std::vector<cv::Vec3f> chosen = {{0, 0, 0}};
  std::vector<Candidate> pool = candidates();
  while (colours.size() < static_cast<std::size_t>(count)) {
    const std::size_t recent = std::min(kRecent, chosen.size());
    Candidate* best = nullptr;
    for (Candidate& candidate : pool) {
      const float last = static_cast<float>(cv::norm(candidate.lab - chosen.back()));
      candidate.distance = std::min(candidate.distance, last);
      if (best != nullptr && candidate.distance <= best->distance) continue;
      const bool apart = std::all_of(chosen.end() - recent, chosen.end(), [&](const cv::Vec3f& c) {
        return cv::norm(candidate.lab - c) >= kRecentDistance;
      });
      if (apart) best = &candidate;
    }
    colours.push_back(best->colour);
    chosen.push_back(best->lab);
  }
  return colours;
}

namespace {

const cv::Vec3b kNoData(150, 150, 150);

/// From dark blue (share 0) over light grey (1/2) to dark red (1).
cv::Vec3b diverging_colour(float share) {
  static const std::array<cv::Vec3f, 7> anchors = {
      cv::Vec3f(20, 60, 120),   cv::Vec3f(60, 125, 180),  cv::Vec3f(160, 200, 225),
      cv::Vec3f(242, 242, 240), cv::Vec3f(245, 190, 160), cv::Vec3f(210, 100, 75),
      cv::Vec3f(140, 20, 35)};
  const float position = share * static_cast<float>(anchors.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(position), anchors.size() - 2);
  const float rest = position - static_cast<float>(low);
  return anchors[low] * (1 - rest) + anchors[low + 1] * rest;
}

}  // namespace

std::vector<float> generalized(const Eigenvectors& eigenvectors, std::size_t k) {
  const std::vector<float>& z = eigenvectors.vectors[k];
  std::vector<float> y(z.size(), 0.0F);
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (eigenvectors.sqrt_degree[i] > 0) y[i] = z[i] / eigenvectors.sqrt_degree[i];
  }
  return y;
}

cv::Mat3b vector_picture(const std::vector<float>& y, const std::vector<float>& sqrt_degree,
                         int width, int height) {
  std::vector<float> magnitudes;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (sqrt_degree[i] > 0) magnitudes.push_back(std::abs(y[i]));
  }
  float full = 0;
  if (!magnitudes.empty()) {
    const auto nth =
        magnitudes.begin() + static_cast<std::ptrdiff_t>((magnitudes.size() - 1) * 98 / 100);
    std::nth_element(magnitudes.begin(), nth, magnitudes.end());
    full = *nth;
  }
  cv::Mat3b picture(height, width);
  std::size_t i = 0;
  for (cv::Vec3b& pixel : picture) {
    const float share = full > 0 ? std::clamp(y[i] / full, -1.0F, 1.0F) : 0.0F;
    pixel = sqrt_degree[i] > 0 ? diverging_colour((share + 1) / 2) : kNoData;
    ++i;
  }
  return picture;
}

}  // namespace diacut
