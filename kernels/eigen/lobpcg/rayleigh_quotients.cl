// rayleigh_quotients: y = D^-1/2 x, the vectors whose differences make up the Rayleigh quotients of
// x with the normalized Laplacian.
#include "matrix/block.clh"

// y = x / s, s one value for each element; 0 where s is 0. Work-items: one element and set, id /
// SETS and id % SETS.
__kernel void divide_rows(__global const Set* restrict x, __global const float* restrict s,
                          const ulong rows, __global Set* restrict y) {
  const ulong at = get_global_id(0);
  if (at >= rows * SETS) return;
  const float divisor = s[at / SETS];
  y[at] = divisor > 0.0f ? x[at] / divisor : (Set)(0.0f);
}
