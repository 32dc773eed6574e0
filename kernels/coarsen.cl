// coarsen: the matrix of every other row and column of an image (squaring and decimation, as in
// fast normalized cuts: Arbelaez, Pont-Tuset, Barron, Marques and Malik, "Multiscale combinatorial
// grouping", 2014, section 4). With kept pixels J = (2X, 2Y) and the interpolation
//
//   P_iJ = gain_i A_iJ,   gain_i = s_i / sum over kept J of A_iJ s_J,
//
// whose rows give the square roots of the degrees, s, back from their values at the kept pixels,
// the coarse matrix is A_JK = sum over i of A_Ji gain_i A_iK: symmetric, and with the same
// eigenvector s to the eigenvalue 1. Two hops within the radius on the fine grid are one within
// the radius on the coarse one, so its diagonals are those of the same disc.
//
// Matrices are in pitched DIA form, diagonal-major (grid_matrix.clh, where gains come from a
// compressed matrix as well), on grids of `width` x `height` pixels `stride` elements apart; the
// coarse grid's stride is its width.
//
// -DBANDS=BAND(first diagonal, dy, first dx, number of diagonals)... of the disc.
#if !defined(BANDS)
#error "coarsen needs BANDS"
#endif
#include "grid_matrix.clh"

// gain, one element an item: 0 where there is no data, or where no kept pixel is near, which also
// sets orphans[level] to 1. Kept pixels' s goes to coarse_degree.
__kernel void coarsen_gain(MATRIX, __global const float* restrict sqrt_degree, const int width,
                           const int height, const int stride, __global float* restrict gain,
                           __global float* restrict coarse_degree, __global int* restrict orphans,
                           const int level) {
  const ulong row = get_global_id(0);
  if (row >= (ulong)stride * height) return;
  const int px = (int)(row % stride);
  const int py = (int)(row / stride);
  const float own = sqrt_degree[row];
  if (((px | py) & 1) == 0 && px < width)
    coarse_degree[(ulong)(py / 2) * ((width + 1) / 2) + px / 2] = own;
  float sum = 0.0f;
#ifdef BITS
  if (((px | py) & 1) == 0) sum = main_diagonal[row] * own;
#endif
#define BAND(d, dy, dx, count)                                               \
  if (py + (dy) >= 0 && py + (dy) < height && ((py + (dy)) & 1) == 0) {      \
    for (int k = (px + (dx)) & 1; k < (count); k += 2) {                     \
      const int nx = px + (dx) + k;                                          \
      if (nx >= 0 && nx < width)                                             \
        sum += WEIGHT(WEIGHTS((d) + k, dy, (dx) + k)) *                      \
               sqrt_degree[(long)(py + (dy)) * stride + nx];                 \
    }                                                                        \
  }
  if (own > 0.0f) {
    BANDS
  }
#undef BAND
  const bool reached = sum > 0.0f && sum < INFINITY;
  gain[row] = own > 0.0f && reached ? own / sum : 0.0f;
  if (own > 0.0f && !reached) orphans[level] = 1;  // All who write write the same.
}

#ifdef RUN
// coarse[D * coarse_pitch + row] for the diagonals D from the centre on, and the same value at the
// mirrored place. A work-item computes RUN coarse elements from RUN * its first id on, of diagonal
// centre + its second id. pairs[begin[D] .. begin[D + 1]) of that diagonal (D counted from the
// centre): (d, e, dx, dy), diagonal d leading from the kept pixel by (dx, dy) to i and e from there
// to the other kept pixel. `coarse` holds zeros before.
__kernel void coarsen_matrix(__global const float* restrict values, const ulong pitch,
                             __global const float* restrict gain, const int width, const int height,
                             const int stride, __global const int4* restrict pairs,
                             __global const int* restrict begin,
                             __global const int2* restrict targets, const int diagonals,
                             __global float* restrict coarse, const ulong coarse_pitch) {
  const int coarse_width = (width + 1) / 2;
  const int coarse_height = (height + 1) / 2;
  const int runs = (coarse_width + RUN - 1) / RUN;
  const ulong id = get_global_id(0);
  if (id >= (ulong)runs * coarse_height) return;
  const int first = (int)(id % runs) * RUN;
  const int cy = (int)(id / runs);
  const int count = min(RUN, coarse_width - first);
  const int half_d = get_global_id(1);
  const int2 target = targets[half_d];
  if (cy + target.y >= coarse_height) return;
  const long rows = (long)stride * height;
  const long own = (long)(2 * cy) * stride + 2 * first;
  float sums[RUN];
  for (int i = 0; i < RUN; ++i) sums[i] = 0.0f;
  for (int k = begin[half_d]; k < begin[half_d + 1]; ++k) {
    const int4 pair = pairs[k];
    const long middle = own + (long)pair.w * stride + pair.z;
    __global const float* to_middle = values + (ulong)pair.x * pitch + own;
    if (count == RUN && middle >= 0 && own + 2 * RUN <= rows && middle + 2 * RUN <= rows) {
      // An entry that leaves its image row is zero: what it would multiply is some finite number.
      __global const float* onward = values + (ulong)pair.y * pitch + middle;
      __global const float* middle_gain = gain + middle;
      for (int i = 0; i < RUN; ++i) sums[i] += to_middle[2 * i] * middle_gain[2 * i] * onward[2 * i];
    } else {
      for (int i = 0; i < count; ++i) {
        const long at = middle + 2 * i;
        if (at >= 0 && at < rows)
          sums[i] += to_middle[2 * i] * gain[at] * values[(ulong)pair.y * pitch + at];
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    const int cx = first + i;
    const int nx = cx + target.x;
    if (nx < 0 || nx >= coarse_width) continue;
    const ulong here = (ulong)cy * coarse_width + cx;
    const ulong there = (ulong)(cy + target.y) * coarse_width + nx;
    coarse[(ulong)(diagonals / 2 + half_d) * coarse_pitch + here] = sums[i];
    coarse[(ulong)(diagonals / 2 - half_d) * coarse_pitch + there] = sums[i];
  }
}
#endif
