#pragma once

#include <cstdint>
#include <vector>

#include "matrix/dia_matrix.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A normalized affinity made on the host, without the stages that make one in a run: a scene of
/// four noisy quadrants, W_ij = exp(-|g_i - g_j| / 0.1) within the stencil. Pixels where `hidden`
/// is not 0 have no data.
struct EigenProblem {
  Grid grid;
  Stencil stencil;
  HostDiaMatrix matrix;
  std::vector<float> sqrt_degree;

  EigenProblem(int width, int height, int radius, double noise = 0.1,
               const std::vector<std::uint8_t>& hidden = {}, const std::vector<int>& strides = {1});

  /// The matrix as dense rows, in double.
  std::vector<std::vector<double>> dense() const;
};

/// A problem's matrix on a device, in DIA form.
NormalizedMatrix matrix_of(Context& context, const EigenProblem& problem);

}  // namespace diacut
