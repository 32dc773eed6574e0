#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <random>

#include "diacut/errors.hpp"
#include "eigen.hpp"

namespace diacut::bench {

namespace {

cv::Mat view_of(Image& image) {
  return {image.height, image.width, CV_32FC(image.channels), image.pixels.data()};
}

Image blank(int width, int height, int channels) {
  Image image{width, height, channels, {}, {}, {}};
  image.pixels.resize(image.pixel_count() * static_cast<std::size_t>(channels));
  return image;
}

Image scene(int width, int height) {
  Image image = blank(width, height, 3);
  std::mt19937 random(2000);
  const auto share = [&random] { return static_cast<double>(random()) / 4294967296.0; };
  std::fill(image.pixels.begin(), image.pixels.end(), 0.45F);
  for (int disc = 0; disc < 60; ++disc) {
    // Sizes and places are shares of the image, so that an image of any size shows one scene.
    const double radius = 0.02 * height * std::exp(2.5 * share());
    const double cx = share() * width;
    const double cy = share() * height;
    const std::array<double, 3> colour = {share(), share(), share()};
    for (int y = std::max(0, static_cast<int>(cy - radius));
         y < std::min<double>(height, cy + radius); ++y) {
      for (int x = std::max(0, static_cast<int>(cx - radius));
           x < std::min<double>(width, cx + radius); ++x) {
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) > radius * radius) continue;
        const std::size_t pixel =
            3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                 static_cast<std::size_t>(x));
        for (std::size_t c = 0; c < 3; ++c) image.pixels[pixel + c] = static_cast<float>(colour[c]);
      }
    }
  }
  for (float& value : image.pixels) {
    value = static_cast<float>(std::clamp(value + 0.06 * (share() - 0.5), 0.0, 1.0));
  }
  return image;
}

}  // namespace

Image sized_image(const Image* photograph, const std::string& how, double megapixels) {
  const double proportion =
      photograph != nullptr ? static_cast<double>(photograph->width) / photograph->height : 1.5;
  const int width =
      std::max(1, static_cast<int>(std::lround(std::sqrt(megapixels * 1e6 * proportion))));
  const int height = std::max(1, static_cast<int>(std::lround(width / proportion)));
  if (how == "scene") return scene(width, height);
  if (how != "enlarge" && how != "tile") {
    throw ConfigError(fmt::format("--by '{}': expected enlarge, tile or scene", how));
  }
  if (photograph == nullptr) {
    throw ConfigError(fmt::format("--by {} needs a photograph", how));
  }
  Image own = *photograph;
  Image image = blank(width, height, own.channels);
  const cv::Mat from = view_of(own);
  cv::Mat to = view_of(image);
  if (how == "enlarge") {
    cv::resize(from, to, to.size(), 0, 0, cv::INTER_LINEAR);
  } else {
    const cv::Mat part = from({0, std::min(height, own.height)}, {0, std::min(width, own.width)});
    cv::copyMakeBorder(part, to, 0, height - part.rows, 0, width - part.cols, cv::BORDER_REFLECT);
  }
  return image;
}

}  // namespace diacut::bench
