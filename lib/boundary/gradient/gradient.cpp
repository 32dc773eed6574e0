#include "boundary/gradient/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "boundary/gradient/image_gradient.hpp"
#include "boundary/gradient/normalize.hpp"
#include "boundary/gradient/quantile.hpp"
#include "boundary/gradient/thin.hpp"
#include "image/colour.hpp"

namespace diacut {

namespace {

std::vector<float> to_float(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// The gradient of an image, and memory that is free again.
struct GradientFields {
  ImageGradient kernels;
  Buffer<float> magnitude;
  StructureTensor tensor;
  Buffer<float> free_plane;
  Buffer<float> free_slope;
};

/// Precondition: there are pixels with data.
GradientFields gradient_fields(Context& context, const Image& image, const Grid& grid,
                               const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                               double sigma) {
  const std::size_t pixels = grid.pixels();
  auto plane = context.allocate<float>(pixels, "a channel of the image");
  auto smooth = context.allocate<float>(pixels, "the channel smoothed along rows");
  auto slope = context.allocate<float>(pixels, "the channel's slope along rows");
  StructureTensor tensor{context.allocate<float>(pixels, "the gradient's tensor, xx"),
                         context.allocate<float>(pixels, "the gradient's tensor, xy"),
                         context.allocate<float>(pixels, "the gradient's tensor, yy")};

  const GradientWeights weights = gradient_weights(sigma);
  ImageGradient gradient(context, grid, to_float(weights.smooth), to_float(weights.derivative));
  const std::vector<float> planes = lab_planes(image);
  for (int channel = 0; channel < image.channels; ++channel) {
    plane.upload(std::span(planes).subspan(static_cast<std::size_t>(channel) * pixels, pixels));
    if (valid_pixels < pixels) gradient.fill(plane, valid);
    gradient.add_channel(plane, smooth, slope, tensor, channel == 0);
  }
  // The planes of the channels are not read any more, and are used again.
  gradient.magnitude(tensor, valid, smooth);
  return {std::move(gradient), std::move(smooth), std::move(tensor), std::move(plane),
          std::move(slope)};
}

}  // namespace

int gradient_reach(double sigma) {
  // As far as the convolution, and from there as far as pixels without data are filled in.
  const int radius = gradient_weights(sigma).radius();
  return radius + (3 * radius + 1) / 2;
}

std::uint32_t quantile_rank(double quantile, std::size_t count) {
  const auto rank = static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(count)));
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(rank, 1, count));
}

GradientWeights gradient_weights(double sigma) {
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  GradientWeights weights;
  double area = 0;
  double slope = 0;
  for (int t = 0; t <= radius; ++t) {
    // Relative to the weight of the first neighbour, so that a difference of neighbours remains
    // however small sigma is.
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

Buffer<float> gradient_magnitude(Context& context, const Image& image, const Grid& grid,
                                 const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                 double sigma) {
  return gradient_fields(context, image, grid, valid, valid_pixels, sigma).magnitude;
}

Buffer<float> gradient_boundary_map(Context& context, const Image& image, const Grid& grid,
                                    const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                    const CueParameters& parameters) {
  auto boundary = context.allocate<float>(grid.rows(), "boundary map");
  if (valid_pixels == 0) {
    boundary.fill(0);
    return boundary;
  }
  GradientFields fields =
      gradient_fields(context, image, grid, valid, valid_pixels, parameters.sigma);
  const Buffer<std::uint32_t> quantile = exact_quantile(
      context, grid, fields.magnitude, valid, quantile_rank(parameters.quantile, valid_pixels));
  if (parameters.thin) {
    launch_gradient_thin(context, grid, static_cast<float>(kRidgeSoftness), fields.magnitude,
                         fields.tensor, fields.free_slope, fields.free_plane);
  }
  launch_gradient_normalize(context, grid, parameters.thin ? fields.free_plane : fields.magnitude,
                            valid, quantile, static_cast<float>(parameters.floor), boundary);
  return boundary;
}

}  // namespace diacut
