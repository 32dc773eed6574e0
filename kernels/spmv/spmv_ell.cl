// spmv_ell: out = A in for a matrix in slices of padded block rows (ELL: Bell and Garland 2008;
// SELL: Monakov, Lokhmotov and Avetisyan, Automatically tuning sparse matrix-vector multiplication
// for GPU architectures, 2010; rows sorted by length in windows: Kreutzer et al., SIAM J. Sci.
// Comput. 36, 2014; blocks: Choi, Singh and Vuduc, PPoPP 2010). A slice has `height` block rows,
// each padded to its longest. ELL and BELL are a single slice; -DSLICE: slices of so many block
// rows (SELL and SBELL). -DSORTED: block row order[s * SLICE + b] of the matrix is block row b of
// slice s.
//
// Slot t of block row b of slice s is p = starts[s] + t * height + b. columns[p] is its first
// column, 0xffffffff where the row has no such block. Row i of the block is the BLOCK_COLS floats
// at ((starts[s] + t * height) * BLOCK_ROWS + i * height + b) * BLOCK_COLS, so that neighbouring
// block rows are neighbours in memory. -DSTART: type of starts.
//
// One work-item computes LANES consecutive block rows, a divisor of `height`: 1 on a GPU; on a CPU
// a vector's worth.
#if !defined(LANES) || !defined(START)
#error "spmv_ell needs LANES, START, BLOCK_ROWS and BLOCK_COLS"
#endif
#include "spmv/spmv_block.clh"

// The sums of the LANES block rows from row b of a slice on, whose slots are `begin` to `end`.
static inline void slice_sums(__global const uint* columns, __global const weight_t* values,
                              const ulong begin, const ulong end, const ulong height, const ulong b,
                              const ulong cols, __global const float* in,
                              float sums[BLOCK_ROWS][LANES]) {
  for (uint i = 0; i < BLOCK_ROWS; ++i) {
    for (uint l = 0; l < LANES; ++l) sums[i][l] = 0.0f;
  }
  for (ulong slot = begin; slot < end; slot += height) {
    __global const uint* c = columns + slot + b;
    __global const weight_t* a = values + (slot * BLOCK_ROWS + b) * BLOCK_COLS;
    cols_t x[LANES];
    for (uint l = 0; l < LANES; ++l) x[l] = block_input(in, c[l], cols);
    for (uint i = 0; i < BLOCK_ROWS; ++i) {
      for (uint l = 0; l < LANES; ++l) {
        sums[i][l] += times(BLOCK_WEIGHTS(a + (i * height + l) * BLOCK_COLS), x[l]);
      }
    }
  }
}

__kernel void spmv(__global const START* restrict starts, __global const uint* restrict columns,
                   __global const weight_t* restrict values, __global const uint* restrict order,
                   const ulong height, const ulong block_rows, const ulong rows, const ulong cols,
                   VECTORS) {
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
