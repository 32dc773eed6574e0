#include "affinity/feature_affinity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "affinity/affinity.hpp"
#include "diacut/errors.hpp"
#include "opencl/kernel_file.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

bool unit_length(const AffinityParameters& parameters) {
  return parameters.feature_measure == FeatureMeasure::kCosine;
}

/// The automatic scale from the squares of distances; 0 if all are at most `rounding` or there are
/// none.
double scale_of_range(std::vector<float>& squares, double rounding) {
  constexpr double kShare = 0.15;
  constexpr double kQuantile = 0.999;
  if (squares.empty()) return 0;
  const auto least = static_cast<float>(rounding * rounding);
  const auto at = squares.begin() +
                  static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(squares.size() - 1));
  std::nth_element(squares.begin(), at, squares.end());
  const float range = *at > least ? *at : *std::max_element(at, squares.end());
  return range > least ? kShare * std::sqrt(static_cast<double>(range)) : 0;
}

/// The scale of the data. `matrix`: the squared distances, that of an element and its later
/// neighbour on diagonal k at the element on the opposite diagonal. Waits.
double scale_of_data(const DiaMatrix& matrix, const DeviceBoundary& boundary, int channels,
                     const AffinityParameters& parameters) {
  const Stencil stencil = affinity_stencil(parameters);
  const std::vector<std::uint8_t> mask = boundary.valid.download();
  const auto width = static_cast<std::size_t>(boundary.grid.width);
  std::vector<float> diagonal(mask.size());
  std::vector<float> squares;
  for (const int far : {parameters.radius, 1}) {  // Direct neighbours in smaller images.
    for (const StencilOffset& offset : {StencilOffset{far, 0}, StencilOffset{0, far}}) {
      matrix.values.download(std::span(diagonal),
                             stencil.opposite(stencil.index(offset)) * matrix.shape.pitch);
      const auto dx = static_cast<std::size_t>(offset.dx);
      const std::size_t step = dx + static_cast<std::size_t>(offset.dy) * width;
      for (std::size_t i = 0; i + step < mask.size(); ++i) {
        const bool is_pair = i % width + dx < width && mask[i] != 0 && mask[i + step] != 0;
        if (is_pair) squares.push_back(diagonal[i]);
      }
    }
    if (!squares.empty()) break;
  }
  // Each of two parallel vectors of n channels is off by at most (n + 1) / 2 + 2 roundings of its
  // length and one of the product.
  const double rounding = unit_length(parameters) ? (channels + 7) * std::ldexp(1.0, -24) : 0;
  return scale_of_range(squares, rounding);
}

const char* no_difference(const AffinityParameters& parameters) {
  return unit_length(parameters)
             ? "the features of neighbouring pixels do not differ in direction, by which cosine "
               "compares them: choose affinity.feature_measure=gaussian for features whose size "
               "matters, or check how the features were made"
             : "the features of neighbouring pixels do not differ: there is nothing to choose "
               "their scale by; set affinity.feature_scale, or check how the features were made";
}

}  // namespace

FeatureAffinity feature_affinity(Context& context, const DeviceBoundary& boundary,
                                 const FeatureSource& features,
                                 const AffinityParameters& parameters) {
  const Grid& grid = boundary.grid;
  const Stencil stencil = affinity_stencil(parameters);
  const DiaShape shape = dia_shape(grid, stencil);
  const bool unit = unit_length(parameters);
  FeatureAffinity result{
      parameters.with_boundary
          ? affinity_matrix(context, boundary, parameters)
          : DiaMatrix{shape, context.allocate<float>(shape.stored(), "the affinity matrix")},
      parameters.feature_scale};
  Buffer<float>& values = result.matrix.values;
  // Elements of a plane before the grid's rows, which are 0 as those behind them. In an image
  // narrower than the stencil, offsets of later neighbours may lead back, by less than the radius.
  const auto front = static_cast<std::size_t>(stencil.radius);
  // Elements of a plane: one channel of a block, or the norms.
  const std::size_t plane =
      front + grid.rows() + front * static_cast<std::size_t>(grid.width) + front;
  const int channels = std::min(features.channels, kFeatureBlock);  // Of a block.
  const KernelFile kernels(
      context, "affinity/feature_weigh.cl",
      fmt::format("-DCENTRE={} -DFRONT={} -DCHANNELS={} -DUNIT={} -DBOUNDARY={}", stencil.centre(),
                  front, channels, unit ? 1 : 0, parameters.with_boundary ? 1 : 0));
  const auto offsets = device_table(context, shape.offsets, "the matrix's offsets");
  auto block =
      context.allocate<float>(plane * static_cast<std::size_t>(channels), "a block of features");
  auto norms = context.allocate<float>(plane, "lengths of features");
  std::vector<cl_int2> steps;
  for (const auto& [dx, dy] : stencil.entries) steps.push_back({{dx, dy}});
  const auto entries = device_table(context, steps, "the stencil's entries");
  block.fill(0);
  norms.fill(0);
  int loaded = -1;  // The first channel of what the block holds.
  const auto each_block = [&](const auto& work) {
    for (int first = 0; first < features.channels; first += channels) {
      if (first != std::exchange(loaded, first)) {
        const int count = std::min(channels, features.channels - first);
        if (count < channels) block.fill(0);
        features.load(first, count, plane, front, block);
      }
      work(first);
    }
  };
  if (unit) {
    each_block([&](int) {
      kernels.launch_rows("feature_norms", grid.rows(), 1, block, plane, grid.rows(), norms);
    });
    kernels.launch_rows("feature_inverse_norms", grid.rows(), 1, norms, grid.rows());
  }
  each_block([&](int first) {
    kernels.launch_rows("feature_distances", grid.rows(), stencil.centre(), block, plane, norms,
                        offsets, grid.rows(), shape.pitch, first == 0 ? 1 : 0, values);
  });
  if (result.scale == 0) {
    result.scale = scale_of_data(result.matrix, boundary, features.channels, parameters);
    if (!(result.scale > 0)) throw InputError(no_difference(parameters));
  }
  // Finite, because infinity times a distance of 0 is no number.
  const double inverse =
      std::min<double>(1 / (2 * result.scale * result.scale), std::numeric_limits<float>::max());
  // With the boundary's part, its affinities stand beside the distances.
  kernels.launch_rows("feature_weights", shape.pitch, stencil.centre() + 1, values, boundary.valid,
                      entries, grid.width, grid.height, shape.pitch, static_cast<float>(inverse));
  kernels.launch_rows("feature_mirror", shape.pitch, stencil.centre(), values, offsets, grid.rows(),
                      shape.pitch);
  return result;
}

}  // namespace diacut
