#include "boundary/gradient/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "boundary/gradient/image_gradient.hpp"
#include "boundary/gradient/quantile.hpp"
#include "boundary/gradient/strength.hpp"
#include "boundary/gradient/thin.hpp"
#include "image/colour.hpp"

namespace diacut {

namespace {

std::uint32_t quantile_rank(double quantile, std::size_t count) {
  const auto rank = static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(count)));
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(rank, 1, count));
}

std::vector<float> to_float(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

GradientWeights gradient_weights(double sigma) {
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  GradientWeights weights;
  double area = 0;
  double slope = 0;
  for (int t = 0; t <= radius; ++t) {
    // Relative to the first pixel, so that a small sigma leaves a difference of neighbours.
    const double gauss = std::exp(-0.5 * t * t / (sigma * sigma));
    weights.smooth.push_back(gauss);
    area += t == 0 ? gauss : 2 * gauss;
    if (t == 0) continue;
    weights.derivative.push_back(t * std::exp(-0.5 * (t * t - 1) / (sigma * sigma)));
    slope += 2 * t * weights.derivative.back();
  }
  for (double& weight : weights.smooth) weight /= area;
  for (double& weight : weights.derivative) weight /= slope;
  return weights;
}

void budget_gradient(MemoryBudget& budget, const Grid& grid, double sigma) {
  const std::uint64_t plane = grid.pixels() * sizeof(float);
  budget.add("boundary strength", grid.rows() * sizeof(float));
  budget.add("a channel of the image", plane);
  budget.add("the channel smoothed along rows", plane);
  budget.add("the channel's slope along rows", plane);
  budget.add("the gradient's tensor, xx", plane);
  budget.add("the gradient's tensor, xy", plane);
  budget.add("the gradient's tensor, yy", plane);
  budget.add("the cue's weights", CueGradient::memory(gradient_weights(sigma).radius()));
  budget.add("counts for the cue's quantile", cue_quantile_memory());
}

Buffer<float> gradient_strength(Context& context, const Image& image, const Grid& grid,
                                const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                const CueParameters& parameters) {
  auto strength = context.allocate<float>(grid.rows(), "boundary strength");
  if (valid_pixels == 0) {
    strength.fill(0);
    return strength;
  }
  const CueLayout layout{grid.width, grid.height, grid.stride};
  const std::size_t pixels = grid.pixels();
  auto plane = context.allocate<float>(pixels, "a channel of the image");
  auto smooth = context.allocate<float>(pixels, "the channel smoothed along rows");
  auto slope = context.allocate<float>(pixels, "the channel's slope along rows");
  CueTensor tensor{context.allocate<float>(pixels, "the gradient's tensor, xx"),
                   context.allocate<float>(pixels, "the gradient's tensor, xy"),
                   context.allocate<float>(pixels, "the gradient's tensor, yy")};

  const GradientWeights weights = gradient_weights(parameters.sigma);
  CueGradient gradient(context, layout, to_float(weights.smooth), to_float(weights.derivative));
  const std::vector<float> planes = lab_planes(image);
  for (int channel = 0; channel < image.channels; ++channel) {
    plane.upload(std::span(planes).subspan(static_cast<std::size_t>(channel) * pixels, pixels));
    if (valid_pixels < pixels) gradient.fill(plane, valid);
    gradient.add_channel(plane, smooth, slope, tensor, channel == 0);
  }
  // The channels are done with: their planes hold what comes of them.
  Buffer<float>& magnitude = smooth;
  Buffer<float>& ridges = plane;
  gradient.magnitude(tensor, valid, magnitude);
  const Buffer<std::uint32_t> quantile = cue_quantile(
      context, layout, magnitude, valid, quantile_rank(parameters.quantile, valid_pixels));
  if (parameters.thin) {
    launch_cue_thin(context, layout, static_cast<float>(kRidgeSoftness), magnitude, tensor, slope,
                    ridges);
  }
  launch_cue_strength(context, layout, parameters.thin ? ridges : magnitude, valid, quantile,
                      static_cast<float>(parameters.floor), strength);
  return strength;
}

namespace {

// A plane of doubles with replicated borders.
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

double nearest_with_data(const Plane& plane, const std::vector<std::uint8_t>& valid, int x, int y,
                         int reach) {
  int nearest = reach * reach * 2 + 1;
  double value = 0;
  for_each_pixel(plane, [&](int to_x, int to_y) {
    const int distance = (to_x - x) * (to_x - x) + (to_y - y) * (to_y - y);
    if (std::abs(to_x - x) > reach || std::abs(to_y - y) > reach || distance >= nearest) return;
    if (!valid[plane.index(to_x, to_y)]) return;
    nearest = distance;
    value = plane.at(to_x, to_y);
  });
  return value;
}

double fade(double own, double rival) {
  if (own >= rival) return 1;
  return std::max(0.0, 1 - (rival - own) / (kRidgeSoftness * rival));
}

// The larger of the magnitudes on both sides across a boundary of this tensor.
double rival_across(const Plane& magnitude, int x, int y, double xx, double xy, double yy) {
  const double angle = 0.5 * std::atan2(2 * xy, xx - yy);
  double step_x = std::cos(angle);
  double step_y = std::sin(angle);
  const double longer = std::max(std::abs(step_x), std::abs(step_y));
  step_x /= longer;
  step_y /= longer;
  // One of the steps is whole: between the two neighbours that the other lies between.
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

}  // namespace

std::vector<double> reference_gradient(const Image& image, const CueParameters& parameters) {
  const int width = image.width;
  const int height = image.height;
  const std::size_t pixels = image.pixel_count();
  const std::vector<std::uint8_t> valid =
      image.valid.empty() ? std::vector<std::uint8_t>(pixels, 1) : image.valid;
  const GradientWeights weights = gradient_weights(parameters.sigma);
  const int radius = weights.radius();
  const std::vector<float> planes = lab_planes(image);

  Plane xx(width, height);
  Plane xy(width, height);
  Plane yy(width, height);
  for (int channel = 0; channel < image.channels; ++channel) {
    Plane plane(width, height);
    const auto begin = planes.begin() + static_cast<std::ptrdiff_t>(channel * pixels);
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(pixels), plane.values.begin());
    Plane filled = plane;
    for_each_pixel(plane, [&](int x, int y) {
      if (valid[plane.index(x, y)]) return;
      filled.at(x, y) = nearest_with_data(plane, valid, x, y, (3 * radius + 1) / 2);
    });
    for_each_pixel(plane, [&](int x, int y) {
      double gx = 0;
      double gy = 0;
      for (int t = -radius; t <= radius; ++t) {
        for (int s = 1; s <= radius; ++s) {
          const double weight = weights.smooth[std::abs(t)] * weights.derivative[s - 1];
          gx += weight * (filled.at(x + s, y + t) - filled.at(x - s, y + t));
          gy += weight * (filled.at(x + t, y + s) - filled.at(x + t, y - s));
        }
      }
      xx.at(x, y) += gx * gx;
      xy.at(x, y) += gx * gy;
      yy.at(x, y) += gy * gy;
    });
  }

  Plane magnitude(width, height);
  std::vector<double> ordered;
  for_each_pixel(magnitude, [&](int x, int y) {
    if (!valid[magnitude.index(x, y)]) return;
    const double trace = xx.at(x, y) + yy.at(x, y);
    const double spread = std::hypot(xx.at(x, y) - yy.at(x, y), 2 * xy.at(x, y));
    magnitude.at(x, y) = std::sqrt((trace + spread) / 2);
    ordered.push_back(magnitude.at(x, y));
  });
  if (ordered.empty()) return std::vector<double>(pixels, 0.0);
  std::sort(ordered.begin(), ordered.end());
  const double full =
      std::max(parameters.floor, ordered[quantile_rank(parameters.quantile, ordered.size()) - 1]);

  Plane result = magnitude;
  if (parameters.thin) {
    Plane ridge(width, height);
    for_each_pixel(ridge, [&](int x, int y) {
      const double own = magnitude.at(x, y);
      ridge.at(x, y) =
          own * fade(own, rival_across(magnitude, x, y, xx.at(x, y), xy.at(x, y), yy.at(x, y)));
    });
    for_each_pixel(ridge, [&](int x, int y) {
      double& value = result.at(x, y);
      value = ridge.at(x, y);
      for (const int dy : {-1, 1}) {
        for (const int dx : {-1, 1}) {
          if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
          const double lesser = std::min(ridge.at(x + dx, y), ridge.at(x, y + dy));
          value = std::max(value, lesser * fade(magnitude.at(x, y), magnitude.at(x + dx, y + dy)));
        }
      }
    });
  }
  for_each_pixel(result, [&](int x, int y) {
    double& value = result.at(x, y);
    if (!valid[result.index(x, y)]) value = 0;
    if (value > 0) value = std::min(1.0, value / full);
  });
  return result.values;
}

}  // namespace diacut
