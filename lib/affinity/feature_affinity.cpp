#include "affinity/feature_affinity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "affinity/affinity.hpp"
#include "diacut/errors.hpp"
#include "opencl/kernel_file.hpp"
#include "opencl/uploads.hpp"

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

/// kernels/affinity/feature_weigh.cl for one stencil and one grid: the matrix of features while it
/// is made, some channels at a time. The calls, in this order: distances(), scale(), weights().
class Making {
 public:
  Making(Context& context, const Grid& grid, FeatureSource& source,
         const AffinityParameters& parameters)
      : parameters_(parameters),
        stencil_(affinity_stencil(parameters)),
        grid_(grid),
        shape_(dia_shape(grid, stencil_)),
        source_(source),
        channels_(std::min(source.channels(), kFeatureBlock)),
        kernels_(context, "affinity/feature_weigh.cl", options()),
        offsets_(device_table(context, shape_.offsets, "the matrix's offsets")),
        block_(context.allocate<float>(plane() * static_cast<std::size_t>(channels_),
                                       "a block of features")),
        norms_(context.allocate<float>(plane(), "lengths of features")) {
    std::vector<cl_int2> entries;
    for (const auto& [dx, dy] : stencil_.entries) entries.push_back({{dx, dy}});
    entries_ = device_table(context, entries, "the stencil's entries");
    block_.fill(0);
    norms_.fill(0);
  }

  /// Leaves the squared distances in `values`, a matrix in DIA form: that of an element and its
  /// later neighbour on diagonal k stands at the element on the opposite diagonal.
  void distances(Buffer<float>& values) {
    if (unit_length(parameters_)) {
      each_block([&](int) {
        kernels_.launch_rows("feature_norms", grid_.rows(), 1, block_, plane(), grid_.rows(),
                             norms_);
      });
      kernels_.launch_rows("feature_inverse_norms", grid_.rows(), 1, norms_, grid_.rows());
    }
    each_block([&](int first) {
      kernels_.launch_rows("feature_distances", grid_.rows(), stencil_.centre(), block_, plane(),
                           norms_, offsets_, grid_.rows(), shape_.pitch, first == 0 ? 1 : 0,
                           values);
    });
  }

  /// The scale of the data, from the squared distances. Waits.
  double scale(const DiaMatrix& matrix, const Buffer<std::uint8_t>& valid) const {
    const std::vector<std::uint8_t> mask = valid.download();
    std::vector<float> squares;
    for (const ScaleOffsets& offsets : scale_offsets(parameters_.radius)) {
      for (const StencilOffset& offset : offsets) add_squares(matrix, mask, offset, squares);
      if (!squares.empty()) break;
    }
    return scale_of_range(squares, rounding_distance(source_.channels(), parameters_));
  }

  /// Distances become weights, and every element of the matrix is written. With the boundary's
  /// part, intervening_contours() stand in `values`.
  void weights(const Buffer<std::uint8_t>& valid, float inverse_scale, Buffer<float>& values) {
    const AffinityWeight weight = affinity_weight(parameters_);
    kernels_.launch_rows("feature_weights", shape_.pitch, stencil_.centre() + 1, values, valid,
                         entries_, grid_.width, grid_.height, shape_.pitch, inverse_scale,
                         weight.inverse_scale, weight.bias, weight.slope);
    kernels_.launch_rows("feature_mirror", shape_.pitch, stencil_.centre(), values, offsets_,
                         grid_.rows(), shape_.pitch);
  }

 private:
  std::string options() const {
    return fmt::format("-DCENTRE={} -DFRONT={} -DCHANNELS={} -DUNIT={} -DBOUNDARY={} -DLOGISTIC={}",
                       stencil_.centre(), front(), channels_, unit_length(parameters_) ? 1 : 0,
                       parameters_.with_boundary ? 1 : 0,
                       affinity_weight(parameters_).logistic ? 1 : 0);
  }

  /// Elements of a plane before the grid's rows, which are 0 as those behind them. In an image
  /// narrower than the stencil, offsets of later neighbours may lead back, by less than the radius.
  std::size_t front() const { return static_cast<std::size_t>(stencil_.radius); }
  /// Elements of a plane: one channel of a block, or the norms.
  std::size_t plane() const {
    return front() + grid_.rows() + front() * static_cast<std::size_t>(grid_.width) + front();
  }

  template <class Work>
  void each_block(const Work& work) {
    for (int first = 0; first < source_.channels(); first += channels_) {
      if (first != loaded_) {
        const int count = std::min(channels_, source_.channels() - first);
        if (count < channels_) block_.fill(0);
        source_.load(first, count, plane(), front(), block_);
        loaded_ = first;
      }
      work(first);
    }
  }

  void add_squares(const DiaMatrix& matrix, const std::vector<std::uint8_t>& mask,
                   StencilOffset offset, std::vector<float>& squares) const {
    std::vector<float> diagonal(grid_.rows());
    const std::size_t k = stencil_.opposite(stencil_.index(offset));
    matrix.values.download(std::span(diagonal), k * matrix.shape.pitch);
    each_pair(grid_, mask, offset,
              [&](std::size_t own, std::size_t) { squares.push_back(diagonal[own]); });
  }

  const AffinityParameters& parameters_;
  Stencil stencil_;
  Grid grid_;
  DiaShape shape_;
  FeatureSource& source_;
  int channels_;  ///< Of a block.
  KernelFile kernels_;
  Buffer<std::int64_t> offsets_;
  Buffer<cl_int2> entries_;
  Buffer<float> block_;
  Buffer<float> norms_;
  int loaded_ = -1;  ///< The first channel of what `block_` holds.
};

const char* no_difference(const AffinityParameters& parameters) {
  return unit_length(parameters)
             ? "the features of neighbouring pixels do not differ in direction, by which cosine "
               "compares them: choose affinity.feature_measure=gaussian for features whose size "
               "matters, or check how the features were made"
             : "the features of neighbouring pixels do not differ: there is nothing to choose "
               "their "
               "scale by; set affinity.feature_scale, or check how the features were made";
}

}  // namespace

FeatureAffinity feature_affinity(Context& context, const BoundaryMap& boundary,
                                 FeatureSource& features, const AffinityParameters& parameters) {
  const DiaShape shape = dia_shape(boundary.grid, affinity_stencil(parameters));
  FeatureAffinity result{{shape, context.allocate<float>(shape.stored(), "the affinity matrix")},
                         parameters.feature_scale};
  DiaMatrix& matrix = result.matrix;
  Making making(context, boundary.grid, features, parameters);
  if (parameters.with_boundary) intervening_contours(context, boundary, parameters, matrix);
  making.distances(matrix.values);
  if (result.scale == 0) {
    result.scale = making.scale(matrix, boundary.valid);
    if (!(result.scale > 0)) throw InputError(no_difference(parameters));
  }
  // Finite, because infinity times a distance of 0 is no number.
  const double inverse =
      std::min<double>(1 / (2 * result.scale * result.scale), std::numeric_limits<float>::max());
  making.weights(boundary.valid, static_cast<float>(inverse), matrix.values);
  return result;
}

}  // namespace diacut
