// affinity_normalize: the normalized affinity A = D^-1/2 W D^-1/2 in place of W, with D the
// degrees, which are the row sums of W (Shi and Malik, Normalized cuts and image segmentation, PAMI
// 2000, equation 7). W is in pitched DIA form: diagonal d of row `row` is values[d * pitch + row].
//
// affinity_degree: work-item `row` adds the entries of its row over the diagonals in ascending
// order, and writes the square root of the degree and the inverse of that root. The degree of a row
// without data is 0; such a row gets 0 for both.
//
// affinity_normalize: work-item (row, d) multiplies values[d * pitch + row] by inverse[row] *
// inverse[row + offsets[d]]. The two factors commute, so A is as symmetric as W, to the last bit.
// Entries that stand for no pair of pixels are zero and stay zero.
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
