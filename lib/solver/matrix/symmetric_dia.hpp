#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diacut/parameters.hpp"
#include "matrix/dia_matrix.hpp"

namespace diacut {

/// How the weights of a compressed symmetric matrix lie in memory; see
/// kernels/matrix/matvec_symmetric.clh.
struct SymmetricLayout {
  int columns = 0;  ///< The width of the image.
  int height = 0;
  int bits = 32;             ///< Of a weight: 8, 16 or 32.
  std::vector<int> reaches;  ///< Of each band, from the pixel's own row on; the radius is the last.
  std::size_t stride = 0;    ///< Weights of a neighbour in an image row.

  int radius() const { return static_cast<int>(reaches.size()) - 1; }
  /// Later neighbours of a pixel.
  int upper() const;
  /// Bytes of the weights.
  std::size_t bytes() const;
  /// Options of the kernels that read it. `stride`: the value of STRIDE.
  std::string options(const std::string& stride) const;
};

/// A symmetric matrix over the pixels of an image, compressed: S M S, where M holds the entries of
/// later neighbours alone, in 32, 16 or 8 bits each, and its main diagonal as floats, and S is the
/// diagonal matrix `scale` (or none). A product moves a half to an eighth of the bytes of a
/// DiaMatrix. For its vectors it is the same: elements are those of `grid`.
struct SymmetricDia {
  Grid grid;
  MatvecStorage storage = MatvecStorage::kFloat32;  ///< Never kAuto.
  SymmetricLayout layout;
  Buffer<std::uint8_t> upper;  ///< layout.bytes() bytes; see kernels/matrix/matvec_symmetric.clh.
  Buffer<float> diagonal;      ///< grid.rows() elements.
  Buffer<float> scale;         ///< grid.rows() elements, or empty.
};

/// What the main diagonal of a compressed matrix is. `roots` are 0 where there is no data.
enum class MainDiagonal {
  kOwn,  ///< That of the matrix.
  /// Of a normalized affinity D^-1/2 W D^-1/2 with roots = D^1/2: W is what is rounded, since its
  /// entries are within [0, 1] whatever the degrees are, and the main diagonal makes up for the
  /// rounding, so that roots stays the eigenvector to eigenvalue 1. What is left is the normalized
  /// cut of a graph with slightly different weights and the same degrees.
  kScaled,
  /// Of a matrix with the eigenvector roots to eigenvalue 1: it makes up for the rounding of the
  /// entries, so that roots stays that eigenvector.
  kRooted,
  /// Of a matrix A with any products A roots: it makes up for the rounding of the entries, so that
  /// A roots stays what it is.
  kKept,
};

/// A matrix whose entries beside the main diagonal are in [0, 1], rounded to the nearest that the
/// storage holds: relative error 2^-11 (half) or 2^-5 (minifloat) down to 2^-29 or 2^-14, below
/// which an entry becomes that or zero. Only later neighbours are read. There is a `scale` with
/// MainDiagonal::kScaled alone. `roots` is null with kOwn. Preconditions: matrix.shape ==
/// dia_shape(grid, stencil), a disc's stencil; the matrix is symmetric. Enqueues. Throws
/// DeviceError.
SymmetricDia compress(Context& context, const DiaMatrix& matrix, const Grid& grid,
                      const Stencil& stencil, MatvecStorage storage, MainDiagonal keeps,
                      const Buffer<float>* roots = nullptr);

/// Bits of a stored weight. Throws ConfigError for kAuto.
int bits_of(MatvecStorage storage);

/// The storage that kAuto stands for where the compressed form was asked for.
MatvecStorage choose_storage(MatvecStorage asked);

/// The largest relative error of a stored weight (of those that are not below the least).
double rounding(MatvecStorage storage);

/// The nearest number that the storage holds.
double reference_weight(double weight, MatvecStorage storage);

const char* to_string(MatvecStorage storage);

}  // namespace diacut
