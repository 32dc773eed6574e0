// coarsen: the matrix of every other row and column of an image (squaring and decimation, as in
// fast normalized cuts: Arbelaez, Pont-Tuset, Barron, Marques and Malik, "Multiscale combinatorial
// grouping", 2014, section 4). With kept pixels J = (2X, 2Y) and the interpolation
//
//   E_iJ = gain_i A_iJ,   gain_i = s_i / sum over kept J of A_iJ s_J,
//
// whose rows give the square roots of the degrees, s, back from their values at the kept pixels,
// the coarse matrix is A_JK = sum over i of A_Ji gain_i A_iK: symmetric, and with the same
// eigenvector s to the eigenvalue 1. matrix/kept_rows.cl computes it. Two hops within the radius on
// the fine grid are one within the radius on the coarse one, so its diagonals are those of the same
// disc.
//
// Matrices are in pitched DIA form, diagonal-major (grid_matrix.clh, where gains come from a
// compressed matrix as well), on grids of `width` x `height` pixels.
//
// Where rows and columns of the matrix were set to 0, s is no eigenvector: a walk may end.
// -DLEAKING then puts (A s)_i, what stays, in place of s_i in gain_i, so that coarse walks end as
// often as two steps on the fine grid do. Without such rows both are equal.
//
// Where the stencil has discs of several strides, A is here its disc of stride 1 alone, and so is
// what is computed of the coarse matrix; coarsen_far.cl adds the rest.
//
// -DBANDS=BAND(first diagonal, dy, first dx, number of diagonals)... of the disc in A; -DREACH, the
// largest |dx| and |dy| of the disc.
#if !defined(BANDS) || !defined(REACH)
#error "coarsen needs BANDS and REACH"
#endif
#include "matrix/band_table.clh"
#include "matrix/grid_matrix.clh"

// The gain of pixel (px, py), whose s is `own`. Products are rounded before they are added.
static float gain_of(MATRIX_AS(), __global const float* sqrt_degree, const int width,
                     const int height, const int px, const int py, const float own, bool* reached) {
#pragma OPENCL FP_CONTRACT OFF
  const ulong row = (ulong)py * width + px;
  float sum = 0.0f;
#ifdef BITS
  if (((px | py) & 1) == 0) sum = main_diagonal[row] * own;
#endif
#define BAND(d, dy, dx, count)                                                                    \
  if (py + (dy) >= 0 && py + (dy) < height && ((py + (dy)) & 1) == 0) {                           \
    for (int k = (px + (dx)) & 1; k < (count); k += 2) {                                          \
      const int nx = px + (dx) + k;                                                               \
      if (nx >= 0 && nx < width)                                                                  \
        sum +=                                                                                    \
            WEIGHT(WEIGHTS((d) + k, dy, (dx) + k)) * sqrt_degree[(long)(py + (dy)) * width + nx]; \
    }                                                                                             \
  }
  ALL_BANDS
#undef BAND
  float staying = own;
#ifdef LEAKING
  staying = 0.0f;
#define BAND(d, dy, dx, count)                                                                  \
  for (int k = 0; py + (dy) >= 0 && py + (dy) < height && k < (count); ++k) {                   \
    const int nx = px + (dx) + k;                                                               \
    if (nx >= 0 && nx < width)                                                                  \
      staying +=                                                                                \
          WEIGHT(WEIGHTS((d) + k, dy, (dx) + k)) * sqrt_degree[(long)(py + (dy)) * width + nx]; \
  }
  ALL_BANDS
#undef BAND
#endif
  *reached = sum > 0.0f && sum < INFINITY;
  return *reached ? staying / sum : 0.0f;
}

// gain, an element an item: 0 where there is no data, or where no kept pixel is near, which also
// sets orphans[level] to 1. Kept pixels' s goes to coarse_degree.
__kernel void coarsen_gain(MATRIX, __global const float* restrict sqrt_degree, const int width,
                           const int height, __global float* restrict gain,
                           __global float* restrict coarse_degree, __global int* restrict orphans,
                           const int level) {
  const ulong row = get_global_id(0);
  if (row >= (ulong)width * height) return;
  const int px = (int)(row % width);
  const int py = (int)(row / width);
  const float own = sqrt_degree[row];
  if (((px | py) & 1) == 0) coarse_degree[(ulong)(py / 2) * ((width + 1) / 2) + px / 2] = own;
  float found = 0.0f;
  if (own > 0.0f) {
    bool reached;
    found = gain_of(MATRIX_ARGUMENTS, sqrt_degree, width, height, px, py, own, &reached);
    if (!reached) orphans[level] = 1;  // All who write write the same.
  }
  gain[row] = found;
}

// coarsen_rows: the rows of R' of the kept pixels (lib/solver/matrix/kept_rows.hpp), R_iJ = A_iJ
// sqrt(gain_i), so that R'R is the coarse matrix. Work-item (x, y, d) writes entry d, which leads
// entries[d] = (dx, dy, its diagonal in A, 0) from kept pixel (x, y). An entry that leaves its
// image row is zero.
#ifndef BITS
__kernel void coarsen_rows(MATRIX, __global const float* restrict gain, const int width,
                           const int height, __global const int4* restrict entries,
                           __global float* restrict rows, const ulong rows_pitch) {
  const int kept_width = (width + 1) / 2;
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= kept_width) return;
  const int4 entry = entries[get_global_id(2)];
  const int px = clamp(2 * x + entry.x, 0, width - 1);
  const int py = clamp(2 * y + entry.y, 0, height - 1);
  rows[get_global_id(2) * rows_pitch + (ulong)y * kept_width + x] =
      values[entry.z * pitch + (ulong)(2 * y) * width + 2 * x] * sqrt(gain[(ulong)py * width + px]);
}
#endif
