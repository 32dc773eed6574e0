#include "reference_features.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "affinity/affinity.hpp"

namespace diacut {

namespace {

bool unit_length(const AffinityParameters& parameters) {
  return parameters.feature_measure == FeatureMeasure::kCosine;
}

std::size_t element(const Grid& grid, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.width) +
         static_cast<std::size_t>(x);
}

/// The offsets at whose distance the automatic scale looks first, and those in smaller images.
using ScaleOffsets = std::array<StencilOffset, 2>;
std::array<ScaleOffsets, 2> scale_offsets(int radius) {
  return {{{{{radius, 0}, {0, radius}}}, {{{1, 0}, {0, 1}}}}};
}

/// Calls visit(element, other) for the pairs of pixels with data at an offset. Precondition: the
/// offset does not lead back.
template <class Visit>
void each_pair(const Grid& grid, const std::vector<std::uint8_t>& valid, StencilOffset offset,
               const Visit& visit) {
  for (int y = 0; y + offset.dy < grid.height; ++y) {
    for (int x = 0; x + offset.dx < grid.width; ++x) {
      const std::size_t own = element(grid, x, y);
      const std::size_t other = element(grid, x + offset.dx, y + offset.dy);
      if (valid[own] != 0 && valid[other] != 0) visit(own, other);
    }
  }
}

/// The distance below which rounding alone explains it. Each of two parallel vectors of n channels
/// is off by at most (n + 1) / 2 + 2 roundings of its length and one of the product.
double rounding_distance(int channels, const AffinityParameters& parameters) {
  return unit_length(parameters) ? (channels + 7) * std::ldexp(1.0, -24) : 0;
}

/// The automatic scale from the squares of distances; 0 if all are at most `rounding` or there are
/// none.
template <class Number>
double scale_of_range(std::vector<Number>& squares, double rounding) {
  constexpr double kShare = 0.15;
  constexpr double kQuantile = 0.999;
  if (squares.empty()) return 0;
  const auto least = static_cast<Number>(rounding * rounding);
  const auto at = squares.begin() +
                  static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(squares.size() - 1));
  std::nth_element(squares.begin(), at, squares.end());
  const Number range = *at > least ? *at : *std::max_element(at, squares.end());
  return range > least ? kShare * std::sqrt(static_cast<double>(range)) : 0;
}

/// The twin's features: as they are, or divided by their length.
std::vector<double> measured(const std::vector<float>& features, int channels, std::size_t rows,
                             const AffinityParameters& parameters) {
  std::vector<double> result(features.begin(), features.end());
  if (!unit_length(parameters)) return result;
  for (std::size_t row = 0; row < rows; ++row) {
    double square = 0;
    for (int c = 0; c < channels; ++c) {
      square += std::pow(result[static_cast<std::size_t>(c) * rows + row], 2);
    }
    for (int c = 0; c < channels && square > 0; ++c) {
      result[static_cast<std::size_t>(c) * rows + row] /= std::sqrt(square);
    }
  }
  return result;
}

double squared_distance(const std::vector<double>& features, int channels, std::size_t rows,
                        std::size_t i, std::size_t j) {
  double sum = 0;
  for (int c = 0; c < channels; ++c) {
    const std::size_t plane = static_cast<std::size_t>(c) * rows;
    sum += std::pow(features[plane + i] - features[plane + j], 2);
  }
  return sum;
}

}  // namespace

std::vector<double> reference_feature_affinity(const Grid& grid, const std::vector<float>& features,
                                               int channels, const std::vector<float>& strength,
                                               const std::vector<std::uint8_t>& valid,
                                               const AffinityParameters& parameters, double scale) {
  const Stencil stencil = affinity_stencil(parameters);
  const std::size_t pitch = dia_shape(grid, stencil).pitch;
  const std::vector<double> own = measured(features, channels, grid.rows(), parameters);
  // Where there is no pair it is 0, so that the product is.
  std::vector<double> values = reference_affinity(grid, strength, valid, parameters);
  for (std::size_t k = stencil.centre() + 1; k < stencil.size(); ++k) {
    const auto [dx, dy] = stencil.entries[k];
    for (int y = 0; y + dy < grid.height; ++y) {
      for (int x = std::max(0, -dx); x < grid.width && x + dx < grid.width; ++x) {
        const std::size_t i = element(grid, x, y);
        const std::size_t j = element(grid, x + dx, y + dy);
        if (valid[i] == 0 || valid[j] == 0) continue;
        const double square = squared_distance(own, channels, grid.rows(), i, j);
        const double alone = std::exp(-square / (2 * scale * scale));
        double& later = values[k * pitch + i];
        later = parameters.with_boundary ? later * alone : alone;
        values[stencil.opposite(k) * pitch + j] = later;
      }
    }
  }
  return values;
}

double reference_feature_scale(const Grid& grid, const std::vector<float>& features, int channels,
                               const std::vector<std::uint8_t>& valid,
                               const AffinityParameters& parameters) {
  const std::vector<double> own = measured(features, channels, grid.rows(), parameters);
  std::vector<double> squares;
  for (const ScaleOffsets& offsets : scale_offsets(parameters.radius)) {
    for (const StencilOffset& offset : offsets) {
      each_pair(grid, valid, offset, [&](std::size_t i, std::size_t j) {
        squares.push_back(squared_distance(own, channels, grid.rows(), i, j));
      });
    }
    if (!squares.empty()) break;
  }
  return scale_of_range(squares, rounding_distance(channels, parameters));
}

}  // namespace diacut
