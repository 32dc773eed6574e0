// spmv_ell_sorted: out = A in as spmv_ell_sliced computes it, where block rows were sorted by
// length: block row order[s * SLICE + b] of the matrix is block row b of slice s.
#if !defined(LANES) || !defined(SLICE) || !defined(START)
#error "spmv_ell_sorted needs LANES, SLICE, START, BLOCK_ROWS and BLOCK_COLS"
#endif
#include "spmv/spmv_ell.clh"

__kernel void spmv(__global const START* restrict starts, __global const uint* restrict columns,
                   __global const float* restrict values, __global const uint* restrict order,
                   const ulong height, const ulong block_rows, const ulong rows, const ulong cols,
                   __global const float* restrict in, __global float* restrict out) {
  const ulong at = (ulong)get_global_id(0) * LANES;
  if (at >= block_rows) return;
  float sums[BLOCK_ROWS][LANES];
  const ulong s = at / SLICE;
  slice_sums(columns, values, starts[s], starts[s + 1], SLICE, at % SLICE, cols, in, sums);
  for (uint l = 0; l < LANES; ++l) {
    const ulong row = (ulong)order[at + l] * BLOCK_ROWS;
    for (uint i = 0; i < BLOCK_ROWS; ++i) {
      if (row + i < rows) STORE(row + i, sums[i][l]);
    }
  }
}
