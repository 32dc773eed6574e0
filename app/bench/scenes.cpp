#include "scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "diacut/errors.hpp"

namespace diacut::bench {

namespace {

/// The photograph at (x, y), which lies within it, between its pixels.
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

/// As a mirror beside a mirror shows it.
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
    // Sizes and places as shares of the image: more pixels show the same scene.
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

std::string log_plot(const std::string& title, const std::string& x_label,
                     const std::string& y_label, const std::vector<Series>& series) {
  constexpr double kWidth = 760;
  constexpr double kHeight = 520;
  constexpr double kLeft = 80;
  constexpr double kRight = 160;
  constexpr double kTop = 50;
  constexpr double kBottom = 60;
  constexpr std::array<const char*, 6> kColours = {"#b3262b", "#23629f", "#3a7d34",
                                                   "#8a5a00", "#6b3fa0", "#555555"};
  double low[2] = {INFINITY, INFINITY};
  double high[2] = {-INFINITY, -INFINITY};
  for (const Series& each : series) {
    for (std::size_t i = 0; i < each.x.size(); ++i) {
      const double values[2] = {std::log10(each.x[i]), std::log10(each.y[i])};
      for (int axis = 0; axis < 2; ++axis) {
        low[axis] = std::min(low[axis], std::floor(values[axis]));
        high[axis] = std::max(high[axis], std::ceil(values[axis] + 1e-9));
      }
    }
  }
  const auto place_x = [&](double x) {
    return kLeft + (std::log10(x) - low[0]) / (high[0] - low[0]) * (kWidth - kLeft - kRight);
  };
  const auto place_y = [&](double y) {
    return kHeight - kBottom -
           (std::log10(y) - low[1]) / (high[1] - low[1]) * (kHeight - kTop - kBottom);
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" font-family=\"sans-"
      "serif\" font-size=\"13\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n<text "
      "x=\"{2}\" y=\"28\" font-size=\"15\">{3}</text>\n",
      kWidth, kHeight, kLeft, title);
  for (int axis = 0; axis < 2; ++axis) {
    for (double decade = low[axis]; decade <= high[axis]; ++decade) {
      const double value = std::pow(10.0, decade);
      if (axis == 0) {
        svg += fmt::format(
            "<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#dddddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
            "text-anchor=\"middle\">{4:g}</text>\n",
            place_x(value), kTop, kHeight - kBottom, kHeight - kBottom + 20, value);
      } else {
        svg += fmt::format(
            "<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#dddddd\"/><text x=\"{3}\" y=\"{1:.1f}\" "
            "text-anchor=\"end\">{4:g}</text>\n",
            kLeft, place_y(value), kWidth - kRight, kLeft - 8, value);
      }
    }
  }
  svg += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n<text transform=\"translate(22 "
      "{}) "
      "rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 16, x_label, (kTop + kHeight - kBottom) / 2,
      y_label);
  for (std::size_t k = 0; k < series.size(); ++k) {
    const Series& each = series[k];
    if (each.x.empty()) continue;
    const char* colour = kColours[k % kColours.size()];
    std::string path;
    for (std::size_t i = 0; i < each.x.size(); ++i) {
      path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", place_x(each.x[i]),
                          place_y(each.y[i]));
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n",
                         place_x(each.x[i]), place_y(each.y[i]), colour);
    }
    svg += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n<text x=\"{}\" "
        "y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
        path, colour, kWidth - kRight + 10, place_y(each.y.back()) + 4, colour, each.name);
  }
  return svg + "</svg>\n";
}

}  // namespace diacut::bench
