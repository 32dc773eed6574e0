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

/// Asks for the kernel, so that it is built together with others (opencl/kernel.hpp).
void request_affinity_weigh(Context& context, std::size_t diagonals, bool logistic);

/// kernels/affinity/weigh.cl. Enqueues: replaces the intervening contours that InterveningContour
/// wrote to `values` by affinities, and writes every element of the matrix in DIA form. `offsets`
/// has one element for each diagonal, an odd number.
void launch_affinity_weigh(Context& context, Buffer<float>& values,
                           const Buffer<std::int64_t>& offsets, std::size_t rows, std::size_t pitch,
                           const AffinityWeight& weight);

}  // namespace diacut
