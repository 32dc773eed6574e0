#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/interpolation.hpp"
#include "matrix/stencil.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

/// kernels/eigen/decimation/decimation.cl: matrices of decimated grids, and vectors on them. Every
/// matrix has the stencil of a disc of one radius: the product of two decimated affinities within
/// the radius reaches no further, in kept pixels.
class Decimation {
 public:
  /// Vectors of one image on a grid, or of several, in planes of it.
  static constexpr int kGroup = 8;  ///< Their number is a multiple of this.

  /// Precondition: 2 <= radius.
  Decimation(Context& context, int radius, int images);

  int diagonals() const { return static_cast<int>(stencil_.size()); }
  const Stencil& stencil() const { return stencil_; }

  /// The matrix W_c of the kept pixels: for each image diagonals() planes of interpolation.cells.
  Buffer<float> matrix(const Interpolation& interpolation);
  /// The interpolation from the kept pixels of a grid with that matrix.
  Interpolation split(const Buffer<float>& matrix, const PlaneGrid& grid);

  /// Offsets of the diagonals on a grid, for step().
  Buffer<std::int32_t> offsets(const PlaneGrid& grid);
  /// `vectors` columns of zeros on a grid, for each image.
  Buffer<float> zeros(const PlaneGrid& grid, int vectors);
  /// out = alpha L x + beta x + gamma before, with L = I - D^-1 W, for `vectors` columns of each
  /// image; (alpha, beta, gamma, 0) of each image from element 4 * images * step of `steps` on.
  /// `out` may be `before`. The diagonal of D becomes `degrees`: a plane for each image.
  struct Step {
    const Buffer<float>& matrix;
    const PlaneGrid& grid;
    const Buffer<std::int32_t>& offsets;
    const Buffer<float>& steps;
    int vectors = 0;
    Buffer<float>& degrees;
  };
  void step(const Step& fixed, int step, const Buffer<float>& x, const Buffer<float>& before,
            Buffer<float>& out);

  /// Where interpolated vectors lie: pixel (x, y) of vector k at
  /// k * pitch + origin + y * stride + x.
  struct Target {
    int width = 0;
    int height = 0;
    int stride = 0;
    std::size_t pitch = 0;
    std::size_t origin = 0;
  };
  static Target in_planes(const PlaneGrid& grid);
  void interpolate(const Interpolation& interpolation, int vectors, const Buffer<float>& coarse,
                   const Target& target, Buffer<float>& fine);

 private:
  /// Two neighbours of one pixel, that decimation_product multiplies, and the first one's cell.
  struct Pair {
    int first = 0;
    int second = 0;
    StencilOffset cell;
  };

  /// Launches work-items (column, row, plane), the columns rounded up to whole work-groups.
  template <class... Arguments>
  void launch(const char* name, std::size_t columns, std::size_t rows, std::size_t planes,
              const Arguments&... arguments);

  Context* context_;
  int radius_;
  int images_;
  int each_;  ///< Vectors that a work-item computes.
  std::size_t lanes_;
  std::size_t group_;
  Stencil stencil_;
  KeptNeighbours neighbours_;
  Buffer<std::int32_t> of_neighbours_;
  Buffer<std::int32_t> first_;
  std::vector<Pair> pairs_;      ///< For each diagonal from the middle one on.
  Buffer<std::int32_t> starts_;  ///< Of the diagonals, in pairs_.
  Buffer<std::int32_t> half_offsets_;
  KernelFile kernels_;
};

}  // namespace diacut
