#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/context.hpp"

namespace diacut {

/// From contour strength to weight: exp(-ic / scale), or, if logistic, exp(-(1 - p) / scale) with
/// p = 1 / (1 + exp(-(bias - slope ic))).
struct AffinityWeight {
  bool logistic = false;
  float inverse_scale = 0;
  float bias = 0;
  float slope = 0;
};

/// kernels/affinity/weigh.cl. Enqueues: turns the strengths that AffinityContour left in `values`
/// into weights and writes every element of the matrix. offsets: one a diagonal, an odd number.
void launch_affinity_weigh(Context& context, Buffer<float>& values,
                           const Buffer<std::int64_t>& offsets, std::size_t rows, std::size_t pitch,
                           const AffinityWeight& weight);

}  // namespace diacut
