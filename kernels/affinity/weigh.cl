// affinity_weigh: turns intervening contours into affinities, in place, and mirrors them.
//
// Work-item (i, j) computes rows RUN i to RUN i + RUN - 1 of diagonal k = CENTRE + j, 1, or 16 on a
// CPU. It reads the intervening contours ic that intervening_contour.cl wrote to values[k * pitch +
// row]. It writes the affinity there, and the same bits to the opposite diagonal for the same pair
// of pixels, values[(2 CENTRE - k) * pitch + row + offsets[k]]; offsets[k] is the offset of
// diagonal k in rows. Elements of its two diagonals at `row` that stand for no pair become 0. So
// one launch writes every element of the matrix, each once.
//
// With -DMIRRORED=0, where intervening contours of all diagonals are there, k = j, and nothing is
// mirrored.
//
// The affinity is 0 where ic is negative (no pair) and 1 on the middle diagonal. Elsewhere it is
// the one of boundary_weight.clh.
#if !defined(CENTRE) || !defined(MIRRORED)
#error "affinity/weigh.cl needs -DCENTRE, the index of the middle stencil entry, and -DMIRRORED"
#endif
#if RUN == 16
#include "common/floats16.clh"
#define FLOAT float16
#elif RUN == 1
#define FLOAT float
#else
#error "affinity/weigh.cl needs -DRUN, 1 or 16"
#endif
#include "affinity/boundary_weight.clh"

// Whether rows `row` and `row + offset` are both in the matrix.
#define IS_PAIR(row, offset) \
  ((row) < (long)rows && (row) + (offset) >= 0 && (row) + (offset) < (long)rows)

__kernel void affinity_weigh(__global float* values, __global const long* restrict offsets,
                             const ulong rows, const ulong pitch, const float inverse_scale,
                             const float bias, const float slope) {
  const long first = get_global_id(0) * RUN;
  const ulong k = (MIRRORED ? CENTRE : 0) + get_global_id(1);
  if (first >= (long)pitch) return;
  const long end = min(first + RUN, (long)pitch);
  __global float* forward = values + k * pitch;
  if (k == CENTRE) {
    for (long row = first; row < end; ++row)
      forward[row] = row < (long)rows && forward[row] >= 0.0f ? 1.0f : 0.0f;
    return;
  }
  __global float* backward = values + (2 * CENTRE - k) * pitch;
  const long offset = MIRRORED ? offsets[k] : 0;
#if RUN == 16
  const long away = max(offset, -offset);
  if (first >= away && first + RUN + away <= (long)rows) {
    const float16 contours = GLOBAL_FLOATS16(forward + first);
    const float16 w =
        select(weight(contours, inverse_scale, bias, slope), (float16)(0.0f), contours < 0.0f);
    GLOBAL_FLOATS16(forward + first) = w;
    if (MIRRORED) GLOBAL_FLOATS16(backward + first + offset) = w;
    return;
  }
#endif
  // Weights of several rows are computed as above, so that they have the same bits everywhere.
  FLOAT contours;
  FLOAT weights;
  float* ic = (float*)&contours;
  const float* w = (const float*)&weights;
  for (long i = 0; i < RUN; ++i) {
    ic[i] = IS_PAIR(first + i, offset) ? forward[first + i] : -1.0f;
  }
  weights = weight(contours, inverse_scale, bias, slope);
  for (long row = first; row < end; ++row) {
    const float own = ic[row - first] < 0.0f ? 0.0f : w[row - first];
    forward[row] = own;
    if (MIRRORED && IS_PAIR(row, offset)) backward[row + offset] = own;
    if (MIRRORED && !IS_PAIR(row, -offset)) backward[row] = 0.0f;
  }
}
