#include "affinity/feature_affinity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "affinity/affinity.hpp"
#include "affinity/affinity_kernels.hpp"
#include "diacut/errors.hpp"
#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "affinity/feature_weigh.cl";

std::string options_of(const Stencil& stencil, const FeatureKernels& kernels) {
  return fmt::format("-DCENTRE={} -DFRONT={} -DCHANNELS={} -DUNIT={} -DBOUNDARY={} -DLOGISTIC={}",
                     stencil.centre(), FeatureWeigh::front(stencil), kernels.channels,
                     kernels.unit ? 1 : 0, kernels.boundary ? 1 : 0, kernels.logistic ? 1 : 0);
}

}  // namespace

FeatureWeigh::FeatureWeigh(Context& context, const Grid& grid, const Stencil& stencil,
                           const FeatureKernels& kernels)
    : context_(&context),
      grid_(grid),
      shape_(dia_shape(grid, stencil)),
      centre_(stencil.centre()),
      plane_(plane(grid, stencil)),
      offsets_(context.allocate<std::int64_t>(stencil.size(), "the matrix's offsets")),
      entries_(context.allocate<cl_int2>(stencil.size(), "the stencil's entries")) {
  offsets_.upload(shape_.offsets);
  std::vector<cl_int2> entries;
  for (const auto& [dx, dy] : stencil.entries) entries.push_back({{dx, dy}});
  entries_.upload(entries);
  const std::string options = options_of(stencil, kernels);
  norms_ = context.kernel(kFile, "feature_norms", options);
  invert_ = context.kernel(kFile, "feature_inverse_norms", options);
  distances_ = context.kernel(kFile, "feature_distances", options);
  weights_ = context.kernel(kFile, "feature_weights", options);
  mirror_ = context.kernel(kFile, "feature_mirror", options);
}

// In an image narrower than the stencil, offsets of later neighbours may lead back, by less than
// the radius.
std::size_t FeatureWeigh::front(const Stencil& stencil) {
  return static_cast<std::size_t>(stencil.radius);
}

std::size_t FeatureWeigh::plane(const Grid& grid, const Stencil& stencil) {
  const auto radius = static_cast<std::size_t>(stencil.radius);
  const std::size_t behind = radius * static_cast<std::size_t>(grid.stride) + radius;
  return front(stencil) + grid.rows() + behind;
}

void FeatureWeigh::add_norms(const Buffer<float>& block, Buffer<float>& norms) {
  set_arguments(norms_, block, plane_, grid_.rows(), norms);
  launch_rows(*context_, norms_, grid_.rows(), 1);
}

void FeatureWeigh::invert_norms(Buffer<float>& norms) {
  set_arguments(invert_, norms, grid_.rows());
  launch_rows(*context_, invert_, grid_.rows(), 1);
}

void FeatureWeigh::add_distances(const Buffer<float>& block, const Buffer<float>& norms, bool first,
                                 Buffer<float>& values) {
  if (centre_ == 0) return;
  set_arguments(distances_, block, plane_, norms, offsets_, grid_.rows(), shape_.pitch,
                first ? 1 : 0, values);
  launch_rows(*context_, distances_, grid_.rows(), centre_);
}

void FeatureWeigh::weights(const Buffer<std::uint8_t>& valid, float inverse_scale,
                           const AffinityWeight& weight, Buffer<float>& values) {
  set_arguments(weights_, values, valid, entries_, grid_.width, grid_.height, grid_.stride,
                shape_.pitch, inverse_scale, weight.inverse_scale, weight.bias, weight.slope);
  launch_rows(*context_, weights_, shape_.pitch, centre_ + 1);
  set_arguments(mirror_, values, offsets_, grid_.rows(), shape_.pitch);
  launch_rows(*context_, mirror_, shape_.pitch, centre_);
}

namespace {

constexpr char kBlock[] = "a block of features";
constexpr char kNorms[] = "lengths of features";

bool unit_length(const AffinityParameters& parameters) {
  return parameters.feature_measure == FeatureMeasure::kCosine;
}

FeatureKernels kernels_for(const AffinityParameters& parameters, int channels) {
  return {std::min(channels, kFeatureBlock), unit_length(parameters), parameters.with_boundary,
          affinity_weight(parameters).logistic};
}

std::size_t element(const Grid& grid, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.stride) +
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

/// The matrix of features while it is made.
class Making {
 public:
  Making(Context& context, const Grid& grid, FeatureSource& source,
         const AffinityParameters& parameters)
      : stencil_(affinity_stencil(parameters)),
        grid_(grid),
        source_(source),
        channels_(std::min(source.channels(), kFeatureBlock)),
        plane_(FeatureWeigh::plane(grid, stencil_)),
        kernels_(context, grid, stencil_, kernels_for(parameters, source.channels())),
        block_(context.allocate<float>(plane_ * static_cast<std::size_t>(channels_), kBlock)),
        norms_(context.allocate<float>(plane_, kNorms)) {
    block_.fill(0);
    norms_.fill(0);
  }

  /// Leaves the squared distances in `values`.
  void distances(bool unit, Buffer<float>& values) {
    if (unit) {
      each_block([&](int) { kernels_.add_norms(block_, norms_); });
      kernels_.invert_norms(norms_);
    }
    each_block([&](int first) { kernels_.add_distances(block_, norms_, first == 0, values); });
  }

  /// The scale of the data, from the squared distances. Waits.
  double scale(const DiaMatrix& matrix, const Buffer<std::uint8_t>& valid,
               const AffinityParameters& parameters) const {
    const std::vector<std::uint8_t> mask = valid.download();
    std::vector<float> squares;
    for (const ScaleOffsets& offsets : scale_offsets(parameters.radius)) {
      for (const StencilOffset& offset : offsets) add_squares(matrix, mask, offset, squares);
      if (!squares.empty()) break;
    }
    return scale_of_range(squares, rounding_distance(source_.channels(), parameters));
  }

  FeatureWeigh& kernels() { return kernels_; }

 private:
  template <class Work>
  void each_block(const Work& work) {
    for (int first = 0; first < source_.channels(); first += channels_) {
      if (first == loaded_) {
        work(first);
        continue;
      }
      const int count = std::min(channels_, source_.channels() - first);
      if (count < channels_) block_.fill(0);
      source_.load(first, count, plane_, FeatureWeigh::front(stencil_), block_);
      loaded_ = first;
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

  Stencil stencil_;
  Grid grid_;
  FeatureSource& source_;
  int channels_;  ///< Of a block.
  std::size_t plane_;
  FeatureWeigh kernels_;
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
  making.distances(unit_length(parameters), matrix.values);
  if (result.scale == 0) {
    result.scale = making.scale(matrix, boundary.valid, parameters);
    if (!(result.scale > 0)) throw InputError(no_difference(parameters));
  }
  // Finite, because infinity times a distance of 0 is no number.
  const double inverse =
      std::min<double>(1 / (2 * result.scale * result.scale), std::numeric_limits<float>::max());
  making.kernels().weights(boundary.valid, static_cast<float>(inverse), affinity_weight(parameters),
                           matrix.values);
  return result;
}

}  // namespace diacut
