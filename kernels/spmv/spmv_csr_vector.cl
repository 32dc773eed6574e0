// spmv_csr_vector: out = A in for CSR and BCSR; spmv_csr.clh tells how the matrix lies.
//
// ITEMS work-items compute one block row and add their sums in a tree (the vector kernel of Bell
// and Garland, Implementing sparse matrix-vector multiplication on throughput-oriented processors,
// SC 2009). -DGROUP: work-items in a group, a multiple of ITEMS; both are powers of two.
#if !defined(ITEMS) || !defined(GROUP) || !defined(START)
#error "spmv_csr_vector needs ITEMS, GROUP, START, BLOCK_ROWS and BLOCK_COLS"
#endif
#include "spmv/spmv_csr.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const START* restrict starts, __global const uint* restrict columns,
    __global const float* restrict values, const ulong block_rows, const ulong rows,
    const ulong cols, __global const float* restrict in, __global float* restrict out) {
  __local float scratch[BLOCK_ROWS][GROUP];
  const ulong block_row = get_global_id(0) / ITEMS;
  const uint lid = get_local_id(0);
  const uint item = lid % ITEMS;
  float sums[BLOCK_ROWS];
  for (uint i = 0; i < BLOCK_ROWS; ++i) sums[i] = 0.0f;
  if (block_row < block_rows) {
    const ulong end = starts[block_row + 1];
    for (ulong p = starts[block_row] + item; p < end; p += ITEMS) {
      const cols_t x = block_input(in, columns[p], cols);
      for (uint i = 0; i < BLOCK_ROWS; ++i) sums[i] += times(block_line(values, p, i), x);
    }
  }
  for (uint i = 0; i < BLOCK_ROWS; ++i) scratch[i][lid] = sums[i];
  for (uint step = ITEMS / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step) {
      for (uint i = 0; i < BLOCK_ROWS; ++i) scratch[i][lid] += scratch[i][lid + step];
    }
  }
  if (item != 0 || block_row >= block_rows) return;
  for (uint i = 0; i < BLOCK_ROWS; ++i) {
    if (block_row * BLOCK_ROWS + i < rows) STORE(block_row * BLOCK_ROWS + i, scratch[i][lid]);
  }
}
