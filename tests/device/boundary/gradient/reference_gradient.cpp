#include "reference_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "boundary/gradient/gradient.hpp"
#include "image/colour.hpp"
#include "image/resize.hpp"

namespace diacut::testing {

namespace {

/// A plane of doubles whose edge pixels are repeated beyond its borders.
struct Plane {
  int width;
  int height;
  std::vector<double> values;

  Plane(int w, int h) : width(w), height(h), values(static_cast<std::size_t>(w) * h, 0.0) {}
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(std::clamp(y, 0, height - 1)) * width +
           static_cast<std::size_t>(std::clamp(x, 0, width - 1));
  }
  double at(int x, int y) const { return values[index(x, y)]; }
  double& at(int x, int y) { return values[index(x, y)]; }
};

template <class F>
void for_each_pixel(const Plane& plane, F&& f) {
  for (int y = 0; y < plane.height; ++y) {
    for (int x = 0; x < plane.width; ++x) f(x, y);
  }
}

/// The share of its value that a pixel keeps beside a rival: soft non-maximum suppression.
double fade(double own, double rival) {
  if (own >= rival) return 1;
  return std::max(0.0, 1 - (rival - own) / (kRidgeSoftness * rival));
}

/// The larger of the magnitudes on both sides across the boundary that a structure tensor
/// describes.
double rival_across(const Plane& magnitude, int x, int y, double xx, double xy, double yy) {
  const double angle = 0.5 * std::atan2(2 * xy, xx - yy);
  double step_x = std::cos(angle);
  double step_y = std::sin(angle);
  const double longer = std::max(std::abs(step_x), std::abs(step_y));
  step_x /= longer;
  step_y /= longer;
  // One component of the step is a whole pixel; along the other axis the value is interpolated
  // between two neighbours.
  const auto between = [&](double dx, double dy) {
    const int low_x = static_cast<int>(std::floor(dx));
    const int low_y = static_cast<int>(std::floor(dy));
    const double part_x = dx - low_x;
    const double part_y = dy - low_y;
    return (1 - part_x) * (1 - part_y) * magnitude.at(x + low_x, y + low_y) +
           part_x * (1 - part_y) * magnitude.at(x + low_x + 1, y + low_y) +
           (1 - part_x) * part_y * magnitude.at(x + low_x, y + low_y + 1) +
           part_x * part_y * magnitude.at(x + low_x + 1, y + low_y + 1);
  };
  return std::max(between(step_x, step_y), between(-step_x, -step_y));
}

struct Tensor {
  Plane xx;
  Plane xy;
  Plane yy;
};

/// Adds the products of the derivatives of a channel.
void add_gradient(const Plane& channel, const GradientWeights& weights, Tensor& tensor) {
  const int radius = weights.radius();
  for_each_pixel(channel, [&](int x, int y) {
    double gx = 0;
    double gy = 0;
    for (int t = -radius; t <= radius; ++t) {
      for (int s = 1; s <= radius; ++s) {
        const double weight = weights.smooth[std::abs(t)] * weights.derivative[s - 1];
        gx += weight * (channel.at(x + s, y + t) - channel.at(x - s, y + t));
        gy += weight * (channel.at(x + t, y + s) - channel.at(x + t, y - s));
      }
    }
    tensor.xx.at(x, y) += gx * gx;
    tensor.xy.at(x, y) += gx * gy;
    tensor.yy.at(x, y) += gy * gy;
  });
}

/// Non-maximum suppression, then ridges closed where they step diagonally.
Plane thinned(const Plane& magnitude, const Tensor& tensor) {
  const auto& [xx, xy, yy] = tensor;
  Plane ridge(magnitude.width, magnitude.height);
  for (int y = 0; y < ridge.height; ++y) {
    for (int x = 0; x < ridge.width; ++x) {
      const double own = magnitude.at(x, y);
      ridge.at(x, y) =
          own * fade(own, rival_across(magnitude, x, y, xx.at(x, y), xy.at(x, y), yy.at(x, y)));
    }
  }
  Plane result = ridge;
  for_each_pixel(ridge, [&](int x, int y) {
    double& value = result.at(x, y);
    for (const int dy : {-1, 1}) {
      for (const int dx : {-1, 1}) {
        const bool inside =
            x + dx >= 0 && x + dx < ridge.width && y + dy >= 0 && y + dy < ridge.height;
        if (!inside) continue;
        const double lesser = std::min(ridge.at(x + dx, y), ridge.at(x, y + dy));
        value = std::max(value, lesser * fade(magnitude.at(x, y), magnitude.at(x + dx, y + dy)));
      }
    }
  });
  return result;
}

}  // namespace

std::vector<double> reference_gradient(const Image& image, const CueParameters& parameters) {
  const std::size_t pixels = image.pixel_count();
  const std::vector<std::uint8_t> valid =
      image.valid.empty() ? std::vector<std::uint8_t>(pixels, 1) : image.valid;
  const GradientWeights weights = gradient_weights(parameters.sigma);
  // A colour picture without a mask, whose pixels without data have the value of the nearest one.
  const std::vector<float> planes =
      lab_planes({image.width, image.height, image.channels, filled_from_nearest(image), {}, {}});

  Plane plane(image.width, image.height);
  Tensor tensor{plane, plane, plane};
  for (int channel = 0; channel < image.channels; ++channel) {
    const auto begin = planes.begin() + static_cast<std::ptrdiff_t>(channel * pixels);
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(pixels), plane.values.begin());
    add_gradient(plane, weights, tensor);
  }

  Plane magnitude(image.width, image.height);
  std::vector<double> ordered;
  for_each_pixel(magnitude, [&](int x, int y) {
    if (!valid[magnitude.index(x, y)]) return;
    const double trace = tensor.xx.at(x, y) + tensor.yy.at(x, y);
    const double spread =
        std::hypot(tensor.xx.at(x, y) - tensor.yy.at(x, y), 2 * tensor.xy.at(x, y));
    magnitude.at(x, y) = std::sqrt((trace + spread) / 2);
    ordered.push_back(magnitude.at(x, y));
  });
  if (ordered.empty()) return std::vector<double>(pixels, 0.0);
  std::sort(ordered.begin(), ordered.end());
  const auto rank = static_cast<std::size_t>(
      std::ceil(parameters.quantile * static_cast<double>(ordered.size())));
  const double full =
      std::max(parameters.floor, ordered[std::clamp<std::size_t>(rank, 1, ordered.size()) - 1]);

  Plane result = parameters.thin ? thinned(magnitude, tensor) : magnitude;
  for_each_pixel(result, [&](int x, int y) {
    double& value = result.at(x, y);
    if (!valid[result.index(x, y)]) value = 0;
    if (value > 0) value = std::min(1.0, value / full);
  });
  return result.values;
}

}  // namespace diacut::testing
