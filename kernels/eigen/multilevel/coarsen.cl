// coarsen: the matrix of every other row and column of an image (squaring and decimation, as in
// fast normalized cuts: Arbelaez, Pont-Tuset, Barron, Marques and Malik, "Multiscale combinatorial
// grouping", 2014, section 4). With kept pixels J = (2X, 2Y) and the interpolation
//
//   E_iJ = gain_i A_iJ,   gain_i = s_i / sum over kept J of A_iJ s_J,
//
// whose rows give the square roots of the degrees, s, back from their values at the kept pixels,
// the coarse matrix is A_JK = sum over i of A_Ji gain_i A_iK: symmetric, and with the same
// eigenvector s to the eigenvalue 1. Two hops within the radius on the fine grid are one within
// the radius on the coarse one, so its diagonals are those of the same disc.
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
// largest |dx| and |dy| of the disc; for coarsen_matrix, which is not there for compressed
// matrices, -DRUN, the elements that a work-item computes, 1, or 16 on a CPU, and where the numbers
// of diagonals differ from those of A, -DCOARSE_BANDS, BANDS with the coarse matrix's, and
// -DDISC_BANDS, BANDS with those that a disc alone has.
#if !defined(BANDS) || !defined(REACH) || (RUN != 1 && RUN != 16)
#error "coarsen needs BANDS, REACH and RUN, 1 or 16"
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

#ifndef BITS
// Of each image row of the disc, from that REACH above on: its diagonal straight up or down, and
// how far it goes to both sides.
#define BAND(d, dy, dx, count) (d) - (dx),
__constant int centres[] = {BANDS};
#ifdef COARSE_BANDS
__constant int coarse_centres[] = {COARSE_BANDS};
__constant int disc_centres[] = {DISC_BANDS};
#else
#define coarse_centres centres
#define disc_centres centres
#endif
#undef BAND
#define BAND(d, dy, dx, count) -(dx),
__constant int halves[] = {BANDS};
#undef BAND

// coarse[D * coarse_pitch + row] = value for diagonal D, which leads (tx, ty) from kept pixel (cx,
// cy), and at the mirrored place; 0 where the one or the other leaves the image, and, by the last
// pixel, from the last row to the pitch. D is the centre or a later one.
static void store_coarse(__global float* restrict coarse, const ulong coarse_pitch, const int width,
                         const int height, const int cx, const int cy, const int tx, const int ty,
                         const float value) {
  const int diagonal = coarse_centres[REACH + ty] + tx;
  __global float* upper = coarse + diagonal * coarse_pitch;
  __global float* lower = coarse + (2 * coarse_centres[REACH] - diagonal) * coarse_pitch;
  const ulong here = (ulong)cy * width + cx;
  const bool exists = cy + ty < height && cx + tx >= 0 && cx + tx < width;
  upper[here] = exists ? value : 0.0f;
  if (exists) lower[here + (long)ty * width + tx] = value;
  if (cy < ty || cx < tx || cx - tx >= width) lower[here] = 0.0f;
  if (cy + 1 < height || cx + 1 < width) return;
  for (ulong at = here + 1; at < coarse_pitch; ++at) {
    upper[at] = 0.0f;
    lower[at] = 0.0f;
  }
}

#define COARSEN_PARAMETERS                                                                       \
  __global const float *restrict values, const ulong pitch, __global const float *restrict gain, \
      const int width, const int height, __global float *restrict coarse, const ulong coarse_pitch
#define COARSE_SIZE                         \
  const int coarse_width = (width + 1) / 2; \
  const int coarse_height = (height + 1) / 2;

#if RUN == 1
// coarsen_matrix and coarsen_matrix_lines both add with it: a GPU is given the one or the other,
// and gets the same bits from both.
#define ADD_HOPS(sum, to_kept, onward) sum = fma(to_kept, onward, sum)

// The coarse matrix. A work-item computes a coarse element, its first id, of diagonal centre + its
// second id: from the kept pixel by (dx, dy) to the middle, and from there to the other kept pixel.
__kernel void coarsen_matrix(COARSEN_PARAMETERS) {
  COARSE_SIZE
  const ulong id = get_global_id(0);
  if (id >= (ulong)coarse_width * coarse_height) return;
  const int cx = (int)(id % coarse_width);
  const int cy = (int)(id / coarse_width);
  const int target = disc_centres[REACH] + (int)get_global_id(1);
  int ty = 0;
  while (disc_centres[REACH + ty] + halves[REACH + ty] < target) ++ty;
  const int tx = target - disc_centres[REACH + ty];
  const long rows = (long)width * height;
  const long own = (long)(2 * cy) * width + 2 * cx;
  float sum = 0.0f;
  for (int dy = 2 * ty - REACH; cy + ty < coarse_height && dy <= REACH; ++dy) {
    const int back = REACH + 2 * ty - dy;
    const int from = max(-halves[REACH + dy], 2 * tx - halves[back]);
    const int hops = min(halves[REACH + dy], 2 * tx + halves[back]) - from + 1;
    const long middle = own + (long)dy * width + from;
    __global const float* to_middle = values + (ulong)(centres[REACH + dy] + from) * pitch + own;
    __global const float* onward = values + (ulong)(centres[back] + 2 * tx - from) * pitch + middle;
    // An entry that leaves its image row is zero: what it would multiply is some finite number.
    for (int k = 0; k < hops; ++k) {
      if (middle + k >= 0 && middle + k < rows)
        ADD_HOPS(sum, *to_middle * gain[middle + k], *onward);
      to_middle += pitch;
      onward -= pitch - 1;
    }
  }
  store_coarse(coarse, coarse_pitch, coarse_width, coarse_height, cx, cy, tx, ty, sum);
}

// The same where there are elements enough to keep a GPU busy: a work-item computes all diagonals
// of one image row of the disc, its second id below the kept pixel, which share the ways to the
// middle.
__kernel void coarsen_matrix_lines(COARSEN_PARAMETERS) {
  COARSE_SIZE
  const ulong id = get_global_id(0);
  if (id >= (ulong)coarse_width * coarse_height) return;
  const int cx = (int)(id % coarse_width);
  const int cy = (int)(id / coarse_width);
  const int ty = (int)get_global_id(1);
  const int least_tx = ty == 0 ? 0 : -halves[REACH + ty];
  const int most_tx = halves[REACH + ty];
  const long rows = (long)width * height;
  const long own = (long)(2 * cy) * width + 2 * cx;
  float sums[2 * REACH + 1];
  for (int t = 0; t <= 2 * REACH; ++t) sums[t] = 0.0f;
  for (int dy = 2 * ty - REACH; cy + ty < coarse_height && dy <= REACH; ++dy) {
    const int half_line = halves[REACH + dy];
    const int back = REACH + 2 * ty - dy;
    for (int dx = -half_line; dx <= half_line; ++dx) {
      const long middle = own + (long)dy * width + dx;
      if (middle < 0 || middle >= rows) continue;
      const float to_kept = values[(ulong)(centres[REACH + dy] + dx) * pitch + own] * gain[middle];
      // Onward is by 2 tx - dx.
      const int from = max(least_tx, (dx - halves[back] + 1) >> 1);
      const int to = min(most_tx, (dx + halves[back]) >> 1);
      __global const float* onward = values + (long)(centres[back] - dx) * (long)pitch + middle;
#pragma unroll
      for (int tx = -REACH; tx <= REACH; ++tx) {
        if (tx >= from && tx <= to)
          ADD_HOPS(sums[REACH + tx], to_kept, onward[2 * tx * (long)pitch]);
      }
    }
  }
#pragma unroll
  for (int tx = -REACH; tx <= REACH; ++tx) {
    if (tx >= least_tx && tx <= most_tx)
      store_coarse(coarse, coarse_pitch, coarse_width, coarse_height, cx, cy, tx, ty,
                   sums[REACH + tx]);
  }
}
#else
#include "common/floats16.clh"

// The coarse matrix. A work-item computes RUN coarse elements from RUN times its second id on, of
// all diagonals of one image row of the disc, its first id below the kept pixels, which share the
// ways to the middle: from the kept pixel by (dx, dy), and from there to the other kept pixel.
__kernel void coarsen_matrix(COARSEN_PARAMETERS) {
  COARSE_SIZE
  const int runs = (coarse_width + RUN - 1) / RUN;
  const ulong id = get_global_id(1);
  if (id >= (ulong)runs * coarse_height) return;
  const int first = (int)(id % runs) * RUN;
  const int cy = (int)(id / runs);
  const int count = min(RUN, coarse_width - first);
  const int ty = (int)get_global_id(0);
  const int least_tx = ty == 0 ? 0 : -halves[REACH + ty];
  const int most_tx = halves[REACH + ty];
  const long rows = (long)width * height;
  const long own = (long)(2 * cy) * width + 2 * first;
  float16 sums[2 * REACH + 1];
  for (int t = 0; t <= 2 * REACH; ++t) sums[t] = (float16)(0.0f);
  for (int dy = 2 * ty - REACH; cy + ty < coarse_height && dy <= REACH; ++dy) {
    const int half_line = halves[REACH + dy];
    const int back = REACH + 2 * ty - dy;
    for (int dx = -half_line; dx <= half_line; ++dx) {
      const long middle = own + (long)dy * width + dx;
      __global const float* to_middle = values + (ulong)(centres[REACH + dy] + dx) * pitch + own;
      // Onward is by 2 tx - dx.
      const int from = max(least_tx, (dx - halves[back] + 1) >> 1);
      const int to = min(most_tx, (dx + halves[back]) >> 1);
      __global const float* onward =
          values + (ulong)(centres[back] + 2 * from - dx) * pitch + middle;
      // An entry that leaves its image row is zero: what it would multiply is some finite number.
      if (middle >= 0 && max(own, middle) + 2 * RUN <= rows) {
        const float16 to_kept = GLOBAL_EVEN16(to_middle) * GLOBAL_EVEN16(gain + middle);
        for (int tx = from; tx <= to; ++tx, onward += 2 * pitch)
          sums[REACH + tx] += to_kept * GLOBAL_EVEN16(onward);
        continue;
      }
      for (int i = 0; i < count; ++i) {
        if (middle + 2 * i < 0 || middle + 2 * i >= rows) continue;
        const float to_kept = to_middle[2 * i] * gain[middle + 2 * i];
        for (int tx = from; tx <= to; ++tx)
          ((float*)(sums + REACH + tx))[i] += to_kept * onward[2 * (tx - from) * pitch + 2 * i];
      }
    }
  }
  for (int tx = least_tx; tx <= most_tx; ++tx) {
    const float* sum = (const float*)(sums + REACH + tx);
    for (int i = 0; i < count; ++i)
      store_coarse(coarse, coarse_pitch, coarse_width, coarse_height, first + i, cy, tx, ty,
                   sum[i]);
  }
}
#endif
#endif
