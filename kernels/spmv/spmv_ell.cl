// spmv_ell: out = A in for ELL, SELL, BELL and SBELL: slices of `slice` block rows, each padded to
// its longest (ELL: Bell and Garland 2008; SELL: Monakov, Lokhmotov and Avetisyan, Automatically
// tuning sparse matrix-vector multiplication for GPU architectures, 2010; rows sorted by length in
// windows: Kreutzer et al., SIAM J. Sci. Comput. 36, 2014; blocks: Choi, Singh and Vuduc, PPoPP
// 2010). ELL and BELL are a single slice.
//
// Slot t of block row b of slice s is p = starts[s] + t * slice + b. columns[p] is its first
// column, 0xffffffff where the row has no such block. Row i of the block is the BLOCK_COLS floats
// from ((starts[s] + t * slice) * BLOCK_ROWS + i * slice + b) * BLOCK_COLS on, so that block rows
// side by side lie side by side. With -DORDER, block row order[s * slice + b] of the matrix is at
// (s, b).
//
// One work-item computes LANES consecutive block rows, a divisor of `slice`: 1 on a GPU; on a CPU a
// vector's worth. -DSLICE: block rows a slice; 0: one slice of `slice`. -DSTART: type of starts.
#if !defined(LANES) || !defined(SLICE) || !defined(START)
#error "spmv_ell needs LANES, SLICE, START, BLOCK_ROWS and BLOCK_COLS"
#endif
#include "spmv/spmv_block.clh"
#include "spmv/spmv_store.clh"

#if SLICE == 0
#define HEIGHT height
#else
#define HEIGHT SLICE
#endif

__kernel void spmv(__global const START* restrict starts, __global const uint* restrict columns,
                   __global const float* restrict values, __global const uint* restrict order,
                   const ulong height, const ulong block_rows, const ulong rows, const ulong cols,
                   __global const float* restrict in, __global float* restrict out) {
  const ulong at = (ulong)get_global_id(0) * LANES;
  if (at >= block_rows) return;
#if SLICE == 0
  const ulong s = 0;
  const ulong b = at;
#else
  const ulong s = at / SLICE;
  const ulong b = at % SLICE;
#endif
  float sums[BLOCK_ROWS][LANES];
  for (uint i = 0; i < BLOCK_ROWS; ++i) {
    for (uint l = 0; l < LANES; ++l) sums[i][l] = 0.0f;
  }
  const ulong end = starts[s + 1];
  for (ulong slot = starts[s]; slot < end; slot += HEIGHT) {
    __global const uint* c = columns + slot + b;
    __global const float* a = values + (slot * BLOCK_ROWS + b) * BLOCK_COLS;
    cols_t x[LANES];
    for (uint l = 0; l < LANES; ++l) x[l] = block_input(in, c[l], cols);
    for (uint i = 0; i < BLOCK_ROWS; ++i) {
      for (uint l = 0; l < LANES; ++l) {
        sums[i][l] += times(LOAD_COLS(a + (i * HEIGHT + l) * BLOCK_COLS), x[l]);
      }
    }
  }
  for (uint l = 0; l < LANES; ++l) {
#ifdef ORDER
    const ulong row = (ulong)order[at + l] * BLOCK_ROWS;
#else
    const ulong row = (at + l) * BLOCK_ROWS;
#endif
    for (uint i = 0; i < BLOCK_ROWS; ++i) {
      if (row + i < rows) STORE(row + i, sums[i][l]);
    }
  }
}
