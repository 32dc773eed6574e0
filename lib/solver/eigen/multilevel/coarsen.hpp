#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "matrix/block.hpp"
#include "matrix/grid.hpp"

namespace diacut {

/// Sums over the square roots of the degrees on every level, one of each kind for each image:
/// element level * batch.count + image.
struct LevelDegrees {
  Buffer<float> scales;            ///< 1 / the norm of D^1/2; infinite where D is 0.
  Arriving<std::uint32_t> counts;  ///< Elements with data: where D^1/2 is positive.
};

/// Computes the LevelDegrees of a matrix whose D^1/2 is `sqrt_degree` and whose images lie as
/// `batch` says, on `levels` grids: the matrix's own, and then each with every other row and column
/// of the grid before. Enqueues.
LevelDegrees level_degrees(Context& context, const Batch& batch, const Buffer<float>& sqrt_degree,
                           int levels);

/// What is known of the null space of I - A.
enum class NullSpace {
  kTrivial,  ///< It holds the trivial eigenvector.
  kNone,     ///< I - A is positive definite, because rows and columns of A were set to 0.
};

/// kernels/eigen/multilevel/coarsen.cl: the interpolation E to the pixels of a grid from the pixels
/// of every other row and column, which are kept, and the matrix of the kept pixels. Of a stencil
/// with strides, the interpolation is that of the disc of stride 1, and coarsen_far.cl in the same
/// folder takes the entries of the others over.
class Coarsen {
 public:
  /// The stencil of the coarse matrix of a matrix with that stencil: even strides are halved, odd
  /// ones but 1 are gone.
  static Stencil coarse_stencil(const Stencil& stencil);

  /// For matrices with that stencil. `levels`: the number of grids that gains() may be called for.
  /// With NullSpace::kNone the interpolation keeps A times the trivial eigenvector in its place;
  /// gains() are then of matrices in DIA form alone.
  Coarsen(Context& context, const Stencil& stencil, std::size_t levels,
          NullSpace null_space = NullSpace::kTrivial);

  /// Of the matrices.
  const Stencil& stencil() const { return stencil_; }
  NullSpace null_space() const { return null_space_; }

  /// Sets `gain`, matrix.rows() elements by which rows of the interpolation are scaled so that it
  /// keeps the trivial eigenvector, and `coarse_sqrt_degree`, the square roots of the degrees of
  /// the kept pixels. `level` is the index of the flag in orphans(). Enqueues.
  void gains(const NormalizedMatrix& matrix, Buffer<float>& gain, Buffer<float>& coarse_sqrt_degree,
             int level);
  /// One flag for each level, not 0 if gains() of that level has met an element with data that no
  /// kept pixel is near: it cannot be interpolated.
  const Buffer<std::int32_t>& orphans() const { return orphans_; }

  /// Sets `coarse`, the values in DIA form of the matrix of the kept pixels: the rows of `matrix`
  /// that belong to kept pixels, times the interpolation. The coarse grid has half the width and
  /// height, rounded up; its diagonals lie `coarse_pitch` elements apart. Precondition: `matrix` is
  /// in DIA form; with strides, NullSpace::kTrivial. Enqueues.
  void matrix(const NormalizedMatrix& matrix, const Buffer<float>& gain, Buffer<float>& coarse,
              std::size_t coarse_pitch);

 private:
  /// The kernels of coarsen.cl for matrices of a form, which the first call asks for.
  const KernelFile& kernels(MatrixForm form);
  void list_far();
  void add_far(const NormalizedMatrix& matrix, Buffer<float>& coarse, std::size_t coarse_pitch);

  Context* context_;
  Stencil stencil_;
  NullSpace null_space_;
  Buffer<std::int32_t> orphans_;
  std::map<MatrixForm, KernelFile> kernels_;
  // With strides, what the kernels of coarsen_far.cl take.
  Buffer<cl_int4> far_;
  Buffer<cl_int2> dropped_;
};

}  // namespace diacut
