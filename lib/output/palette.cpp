#include "output/palette.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace diacut {
namespace {

constexpr int kStep = 15;  // 18 levels a channel: 0, 15, ..., 255.
constexpr float kDarkest = 30, kLightest = 92;
/// A colour keeps this distance (Lab) from the kRecent before it.
constexpr float kRecentDistance = 40;
constexpr std::size_t kRecent = 4;

struct Candidate {
  Colour colour;
  cv::Vec3f lab;
  float distance;  ///< To the nearest colour chosen.
};

std::vector<Candidate> candidates() {
  std::vector<Candidate> result;
  for (int r = 0; r <= 255; r += kStep) {
    for (int g = 0; g <= 255; g += kStep) {
      for (int b = 0; b <= 255; b += kStep) {
        const cv::Vec3b colour = cv::Vec3i(r, g, b);
        cv::Mat3f pixel(1, 1, cv::Vec3f(colour) / 255.0F);
        cv::cvtColor(pixel, pixel, cv::COLOR_RGB2Lab);
        // Whole units, so that the last bit of a library's arithmetic decides nothing.
        const cv::Vec3f lab(std::round(pixel(0)[0]), std::round(pixel(0)[1]),
                            std::round(pixel(0)[2]));
        if (lab[0] < kDarkest || lab[0] > kLightest) continue;
        result.push_back(
            {{colour[0], colour[1], colour[2]}, lab, std::numeric_limits<float>::max()});
      }
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
