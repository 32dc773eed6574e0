#pragma once

#include <cstddef>
#include <vector>

#include "matrix/dia_matrix.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"

namespace diacut {

inline std::size_t at_size(int value) { return static_cast<std::size_t>(value); }

/// A random symmetric matrix on a grid; elements that `hidden` names have no data.
struct BlockProblem {
  Grid grid;
  Stencil stencil;
  HostDiaMatrix matrix;
  std::vector<float> sqrt_degree;

  BlockProblem(int width, int height, int padding, int radius, unsigned seed,
               const std::vector<std::size_t>& hidden = {});

  std::size_t element(int x, int y) const { return at_size(y) * at_size(stride()) + at_size(x); }
  int stride() const { return grid.stride; }
  std::size_t pitch() const { return matrix.shape.pitch; }
  std::size_t rows() const { return matrix.shape.rows; }
  /// A_ij, 0 where the stencil does not reach.
  double value(std::size_t i, int dx, int dy) const;
};

/// A problem's matrix on a device, in DIA form, with bands of NaN behind its buffers. The images of
/// `batch` lie on the problem's grid.
NormalizedMatrix matrix_of(Context& context, const BlockProblem& problem, const Batch& batch);
inline NormalizedMatrix matrix_of(Context& context, const BlockProblem& problem) {
  return matrix_of(context, problem, Batch(problem.grid));
}

/// A problem's matrix compressed to 16 bits, on the device and on the host.
struct CompressedProblem {
  NormalizedMatrix matrix;
  HostDiaMatrix rounded;  ///< Both halves, as the definition in double rounds them.

  /// Compresses `dia`, which is the problem's matrix on the device.
  CompressedProblem(Context& context, NormalizedMatrix dia, const BlockProblem& problem);
};

/// Column `column` of a block.
std::vector<double> column_of(const std::vector<float>& block, int columns, int column);

/// The interpolation as dense rows: element i, coarse element J.
std::vector<std::vector<double>> reference_interpolation(const BlockProblem& problem,
                                                         const std::vector<float>& gain);

}  // namespace diacut
