// spmv_ell: out = A in for ELL and BELL, which are a single slice of `height` block rows;
// spmv_ell.clh tells how the slice lies. One work-item computes LANES consecutive block rows.
#if !defined(LANES) || !defined(START)
#error "spmv_ell needs LANES, START, BLOCK_ROWS and BLOCK_COLS"
#endif
#include "spmv/spmv_ell.clh"

__kernel void spmv(__global const START* restrict starts, __global const uint* restrict columns,
                   __global const float* restrict values, __global const uint* restrict order,
                   const ulong height, const ulong block_rows, const ulong rows, const ulong cols,
                   __global const float* restrict in, __global float* restrict out) {
  const ulong at = (ulong)get_global_id(0) * LANES;
  if (at >= block_rows) return;
  float sums[BLOCK_ROWS][LANES];
  slice_sums(columns, values, starts[0], starts[1], height, at, cols, in, sums);
  for (uint l = 0; l < LANES; ++l) {
    const ulong row = (at + l) * BLOCK_ROWS;
    for (uint i = 0; i < BLOCK_ROWS; ++i) {
      if (row + i < rows) STORE(row + i, sums[i][l]);
    }
  }
}
