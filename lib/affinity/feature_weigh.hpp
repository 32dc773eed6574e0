#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "affinity/weigh.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/grid.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// How kernels/affinity/feature_weigh.cl is built.
struct FeatureKernels {
  int channels = 1;       ///< Of a block.
  bool unit = false;      ///< Whether features are divided by their length.
  bool boundary = false;  ///< Whether weights are multiplied by the boundary's.
  bool logistic = false;  ///< AffinityWeight::logistic.
};

/// kernels/affinity/feature_weigh.cl for one stencil and one grid: affinities by features, some
/// channels at a time. The calls, in this order: with `unit` add_norms() for all blocks and
/// invert_norms(), then add_distances() for all blocks, then weights().
class FeatureWeigh {
 public:
  FeatureWeigh(Context& context, const Grid& grid, const Stencil& stencil,
               const FeatureKernels& kernels);

  /// Elements of a plane before and behind the grid's rows, which have to be 0.
  static std::size_t front(const Stencil& stencil);
  /// Elements of a plane: one channel of a block, or the norms.
  static std::size_t plane(const Grid& grid, const Stencil& stencil);

  /// Enqueues: adds the squares of a block's features to `norms`, one plane. `block`: a plane for
  /// each of the block's channels.
  void add_norms(const Buffer<float>& block, Buffer<float>& norms);
  /// Enqueues: the squares become inverse lengths.
  void invert_norms(Buffer<float>& norms);
  /// Enqueues: adds a block's part of squared distances to `values`, a matrix in DIA form, or with
  /// `first` stores it. The distance of an element and its later neighbour on diagonal k stands at
  /// the element on the opposite diagonal. `norms` is read with `unit`.
  void add_distances(const Buffer<float>& block, const Buffer<float>& norms, bool first,
                     Buffer<float>& values);
  /// Enqueues: distances become weights, exp(-inverse_scale d^2), and every element of the matrix
  /// is written. With `boundary` the intervening contours of InterveningContour::launch() stand in
  /// `values`, and `weight` says what they count.
  void weights(const Buffer<std::uint8_t>& valid, float inverse_scale, const AffinityWeight& weight,
               Buffer<float>& values);

 private:
  Context* context_;
  Grid grid_;
  DiaShape shape_;
  std::size_t centre_;
  std::size_t plane_;
  Buffer<std::int64_t> offsets_;
  Buffer<cl_int2> entries_;
  Kernel norms_;
  Kernel invert_;
  Kernel distances_;
  Kernel weights_;
  Kernel mirror_;
};

}  // namespace diacut
