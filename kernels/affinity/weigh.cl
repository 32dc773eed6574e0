// affinity_weigh: turns intervening contours into affinities, in place, and mirrors them.
//
// Work-item (row, j) computes diagonal k = CENTRE + j. It reads the intervening contour ic that
// intervening_contour.cl wrote to values[k * pitch + row]. It writes the affinity there, and the
// same bits to the opposite diagonal for the same pair of pixels, values[(2 CENTRE - k) * pitch +
// row + offsets[k]]; offsets[k] is the offset of diagonal k in rows. Elements of its two diagonals
// at `row` that stand for no pair become 0. So one launch writes every element of the matrix, each
// once.
//
// The affinity is 0 where ic is negative (no pair) and 1 on the middle diagonal. Elsewhere it is
// the one of boundary_weight.clh.
#ifndef CENTRE
#error "affinity/weigh.cl needs -DCENTRE: the index of the middle stencil entry"
#endif
#include "affinity/boundary_weight.clh"

__kernel void affinity_weigh(__global float* values, __global const long* restrict offsets,
                             const ulong rows, const ulong pitch, const float inverse_scale,
                             const float bias, const float slope) {
  const long row = get_global_id(0);
  const ulong k = CENTRE + get_global_id(1);
  if (row >= (long)pitch) return;
  __global float* forward = values + k * pitch;
  if (k == CENTRE) {
    forward[row] = row < (long)rows && forward[row] >= 0.0f ? 1.0f : 0.0f;
    return;
  }
  __global float* backward = values + (2 * CENTRE - k) * pitch;
  const long offset = offsets[k];
  const bool pair = row < (long)rows && row + offset >= 0 && row + offset < (long)rows;
  const float ic = pair ? forward[row] : -1.0f;
  const float w = ic < 0.0f ? 0.0f : weight(ic, inverse_scale, bias, slope);
  forward[row] = w;
  if (pair) backward[row + offset] = w;
  const bool mirrored = row < (long)rows && row - offset >= 0 && row - offset < (long)rows;
  if (!mirrored) backward[row] = 0.0f;
}
