// dense_product: out = M b for dense symmetric matrices M, one for each image of a batch.
#include "matrix/block.clh"

// M is `rows` x `rows`; the matrices follow each other, and so do the segments of blocks b and out,
// `rows` elements of `sets` sets. Work-items: one element and set of segment active[second id].
__kernel void dense_product(__global const float* restrict matrix, const uint rows,
                            __global const Set* restrict b, __global Set* restrict out,
                            __global const int* restrict active, const uint sets) {
  const uint set = get_global_id(0) % sets;
  const uint row = get_global_id(0) / sets;
  if (row >= rows) return;
  const ulong segment = active[get_global_id(1)];
  // Symmetric: neighbouring rows read neighbouring words.
  __global const float* column = matrix + segment * rows * rows + row;
  __global const Set* from = b + segment * rows * sets + set;
  Set sums[4];
  for (uint k = 0; k < 4; ++k) sums[k] = (Set)(0.0f);
  uint c = 0;
  for (; c + 4 <= rows; c += 4) {
    UNROLL
    for (uint k = 0; k < 4; ++k)
      sums[k] = fma((Set)(column[(c + k) * rows]), from[(c + k) * sets], sums[k]);
  }
  for (; c < rows; ++c) sums[0] = fma((Set)(column[c * rows]), from[c * sets], sums[0]);
  out[(segment * rows + row) * sets + set] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
