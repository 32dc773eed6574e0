// spmv_ell: out = A in for a matrix in slices of block rows; spmv_ell.clh tells how they lie. One
// work-item computes LANES consecutive block rows. ELL and BELL are a single slice of `height`
// block rows; -DSLICE: slices of so many block rows (SELL and SBELL). -DSORTED: block row
// order[s * SLICE + b] of the matrix is block row b of slice s.
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
#ifdef SLICE
  const ulong s = at / SLICE;
  slice_sums(columns, values, starts[s], starts[s + 1], SLICE, at % SLICE, cols, in, sums);
#else
  slice_sums(columns, values, starts[0], starts[1], height, at, cols, in, sums);
#endif
  for (uint l = 0; l < LANES; ++l) {
#ifdef SORTED
    const ulong row = (ulong)order[at + l] * BLOCK_ROWS;
#else
    const ulong row = (at + l) * BLOCK_ROWS;
#endif
    for (uint i = 0; i < BLOCK_ROWS; ++i) {
      if (row + i < rows) STORE(row + i, sums[i][l]);
    }
  }
}
