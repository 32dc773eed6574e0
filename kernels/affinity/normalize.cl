// affinity_normalize: A = D^-1/2 W D^-1/2 in place of W, D the degrees (Shi and Malik, Normalized
// cuts and image segmentation, PAMI 2000, equation 7). W is in pitched DIA form, diagonal-major.
//
// affinity_degree: work-item `row` adds values[d * pitch + row] over the diagonals in ascending
// order and writes the sum's square root and that one's inverse; a row without data sums to 0 and
// gets 0 twice.
//
// affinity_normalize: work-item (row, d) multiplies values[d * pitch + row] by inverse[row] and
// inverse[row + offsets[d]]. Only products, which commute, so that A is as symmetric as W, to the
// bit. Entries that stand for no pair are zero and stay so.
#include "common/accumulate.clh"

__kernel void affinity_degree(__global const float* restrict values,
                              __global float* restrict sqrt_degree,
                              __global float* restrict inverse, const ulong rows, const ulong pitch,
                              const ulong diagonals) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  ACC_T degree = acc_zero();
  for (ulong d = 0; d < diagonals; ++d) degree = acc_add(degree, values[d * pitch + row]);
  const float root = sqrt(acc_value(degree));
  sqrt_degree[row] = root;
  inverse[row] = root > 0.0f ? 1.0f / root : 0.0f;
}

__kernel void affinity_normalize(__global float* restrict values,
                                 __global const float* restrict inverse,
                                 __global const long* restrict offsets, const ulong rows,
                                 const ulong pitch) {
  const long row = get_global_id(0);
  const ulong d = get_global_id(1);
  if (row >= (long)rows) return;
  const long column = row + offsets[d];
  if (column < 0 || column >= (long)rows) return;
  values[d * pitch + row] *= inverse[row] * inverse[column];
}
