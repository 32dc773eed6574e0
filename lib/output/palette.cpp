#include "output/palette.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <opencv2/core.hpp>
#include <vector>

#include "image/colour.hpp"

namespace diacut {
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

}  // namespace diacut
