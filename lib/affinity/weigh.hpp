#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"

namespace diacut {

/// The formula of the affinity for an intervening contour ic: exp(-ic / scale), or, if logistic,
/// exp(-(1 - p) / scale) with p = 1 / (1 + exp(-(bias - slope ic))).
struct AffinityWeight {
  bool logistic = false;
  float inverse_scale = 0;  ///< 1 / scale.
  float bias = 0;
  float slope = 0;
};

/// kernels/affinity/weigh.cl for matrices of an odd number of diagonals.
class AffinityWeigh {
 public:
  AffinityWeigh(Context& context, std::size_t diagonals, const AffinityWeight& weight);

  /// Enqueues: replaces the intervening contours that InterveningContour wrote to `values` by
  /// affinities, and writes every element of the matrix in DIA form. `offsets` has one element for
  /// each diagonal.
  void launch(Buffer<float>& values, const Buffer<std::int64_t>& offsets, std::size_t rows,
              std::size_t pitch);

 private:
  Context* context_;
  AffinityWeight weight_;
  Kernel kernel_;
};

}  // namespace diacut
