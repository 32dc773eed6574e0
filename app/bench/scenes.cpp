#include "scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "diacut/errors.hpp"

namespace diacut::bench {

namespace {

/// The photograph's value at (x, y) by bilinear interpolation. Precondition: the point lies within.
float between(const Image& image, double x, double y, int channel) {
  const int left = std::clamp(static_cast<int>(x), 0, image.width - 1);
  const int top = std::clamp(static_cast<int>(y), 0, image.height - 1);
  const auto at = [&](int u, int v) {
    return static_cast<double>(
        image.pixels[(static_cast<std::size_t>(std::min(v, image.height - 1)) *
                          static_cast<std::size_t>(image.width) +
                      static_cast<std::size_t>(std::min(u, image.width - 1))) *
                         static_cast<std::size_t>(image.channels) +
                     static_cast<std::size_t>(channel)]);
  };
  const double dx = std::clamp(x - left, 0.0, 1.0);
  const double dy = std::clamp(y - top, 0.0, 1.0);
  return static_cast<float>((1 - dy) * ((1 - dx) * at(left, top) + dx * at(left + 1, top)) +
                            dy * ((1 - dx) * at(left, top + 1) + dx * at(left + 1, top + 1)));
}

/// The pixel that pixel i repeats when an image of n pixels and its mirror images lie side by side.
int mirrored(int i, int n) {
  const int period = i % (2 * n);
  return period < n ? period : 2 * n - 1 - period;
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
  Image image = blank(width, height, photograph->channels);
  std::size_t at = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < image.channels; ++c, ++at) {
        image.pixels[at] = how == "tile"
                               ? between(*photograph, mirrored(x, photograph->width),
                                         mirrored(y, photograph->height), c)
                               : between(*photograph, (x + 0.5) * photograph->width / width - 0.5,
                                         (y + 0.5) * photograph->height / height - 0.5, c);
      }
    }
  }
  return image;
}

double growth_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double xy = 0;
  double xx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    xx += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return xx > 0 ? xy / xx : NAN;
}

}  // namespace diacut::bench
