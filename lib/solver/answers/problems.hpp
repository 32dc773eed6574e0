#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/dia_matrix.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"

namespace diacut {

inline std::size_t at_size(int value) { return static_cast<std::size_t>(value); }

/// A symmetric matrix over the pixels of a small grid, made on the host without the stages that
/// make one in a run, and what stands for the square roots of its degrees.
struct MatrixProblem {
  Grid grid;
  Stencil stencil;
  HostDiaMatrix matrix;
  std::vector<float> sqrt_degree;

  /// Zeros.
  MatrixProblem(const Grid& of, const Stencil& neighbours);

  std::size_t element(int x, int y) const { return at_size(y) * at_size(grid.width) + at_size(x); }
  bool contains(int x, int y) const {
    return x >= 0 && y >= 0 && x < grid.width && y < grid.height;
  }
  std::size_t pitch() const { return matrix.shape.pitch; }
  std::size_t rows() const { return matrix.shape.rows; }
  /// The entry on diagonal d of row i.
  float& entry(std::size_t d, std::size_t i) { return matrix.values[d * pitch() + i]; }
  double entry(std::size_t d, std::size_t i) const { return matrix.values[d * pitch() + i]; }
  Eigen::MatrixXd dense() const;
};

/// Random entries; elements that `hidden` names have no data.
struct BlockProblem : MatrixProblem {
  BlockProblem(int width, int height, int radius, unsigned seed,
               const std::vector<std::size_t>& hidden = {});
};

/// A normalized affinity whose eigenvalues are known. Weights depend on the offset of two pixels
/// alone, fall with its length, and are the same for (dx, dy), (-dx, dy) and (dx, -dy). What would
/// reach beyond the grid is reflected at its sides. Such a matrix is diagonal in the basis of the
/// discrete cosine transform, and all degrees are the same (G. Strang, "The discrete cosine
/// transform", 1999). All entries are sums of multiples of a power of two that 16 bits hold, so
/// that compression does not round them. Of a stencil with several strides only the first disc has
/// weights.
struct CosineProblem : MatrixProblem {
  /// All eigenvalues of the normalized Laplacian I - A, ascending.
  std::vector<double> values;

  /// Precondition: the grid is no smaller than the stencil's disc.
  CosineProblem(int width, int height, const Stencil& neighbours);
};

/// A problem's matrix on a device, in DIA form.
NormalizedMatrix matrix_of(Context& context, const MatrixProblem& problem);

}  // namespace diacut
