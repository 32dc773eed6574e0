#pragma once

#include <cstddef>
#include <vector>

#include "matrix/dia_matrix.hpp"
#include "matrix/grid.hpp"
#include "matrix/stencil.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

/// The grid of every other row and column of a batch's images, those of even x and y: the kept
/// pixels. Each image has half the width and height, rounded up.
Batch coarser(const Batch& fine);

/// Normalized affinities R between the pixels i of some images and their kept pixels J. Two
/// products follow from it: R'R is a normalized affinity matrix of the kept pixels, and R takes
/// vectors of the kept pixels to all pixels. Two hops within the radius of a disc, over any pixel,
/// are one within the radius on the kept grid, so that R'R has the diagonals of the same disc (the
/// decimation of P. Arbelaez, J. Pont-Tuset, J. Barron, F. Marques and J. Malik, "Multiscale
/// combinatorial grouping", 2014, section 4).
struct KeptRows {
  Batch fine;       ///< All pixels.
  Batch kept;       ///< coarser(fine).
  Stencil stencil;  ///< A disc.
  /// The rows of R' in pitched DIA form: values[d * pitch() + J] is the entry of kept pixel J =
  /// (X, Y) and pixel (2 X + dx, 2 Y + dy), (dx, dy) being entry d of the stencil; 0 where that
  /// pixel lies outside of its image row or has no data.
  Buffer<float> values;

  std::size_t pitch() const { return dia_pitch(kept.grid().rows()); }
};

/// The kernels of the functions below.
KernelFile kept_row_kernels(Context& context);

/// coarse = R'R in pitched DIA form, diagonals `pitch` elements apart. `stencil`: of `coarse`, of
/// which the disc's diagonals are written, and those of others set to 0. Enqueues.
void multiply_kept_rows(Context& context, const KeptRows& rows, const Stencil& stencil,
                        Buffer<float>& coarse, std::size_t pitch);

/// Vectors 1 to count - 1 of fine = R times those of `coarse`, of image `image` of the batch.
/// Vector k of the kept pixels is elements k * coarse_pitch and on of `coarse`, row by row of the
/// image's kept grid, and of all pixels k * fine_pitch and on of `fine`. Enqueues.
void interpolate_kept_rows(Context& context, const KeptRows& rows, int image, int count,
                           const Buffer<float>& coarse, std::size_t coarse_pitch,
                           Buffer<float>& fine, std::size_t fine_pitch);

/// The kept pixels that a pixel of parity p = (x mod 2) + 2 (y mod 2) has within the disc, for each
/// p in turn: (dx, dy) in kept pixels from (x / 2, y / 2), and the stencil entry that leads from
/// the kept pixel back to the pixel. Those of parity p are neighbours[first[p]] to
/// neighbours[first[p + 1] - 1].
struct KeptNeighbours {
  std::vector<cl_int4> neighbours;
  std::vector<std::int32_t> first = {0};

  explicit KeptNeighbours(const Stencil& disc);
};

}  // namespace diacut
