// spmv_csr_scalar: out = A in for CSR and BCSR; spmv_csr.clh tells how the matrix lies.
//
// One work-item computes one block row (the scalar kernel of Bell and Garland, Implementing sparse
// matrix-vector multiplication on throughput-oriented processors, SC 2009). With -DPARTS it keeps
// PARTS sums, each of every PARTS-th block, which a CPU computes as one vector. -DGROUP: work-items
// in a group.
#if !defined(GROUP) || !defined(START)
#error "spmv_csr_scalar needs GROUP, START, BLOCK_ROWS and BLOCK_COLS"
#endif
#include "spmv/spmv_csr.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const START* restrict starts, __global const uint* restrict columns,
    __global const float* restrict values, const ulong block_rows, const ulong rows,
    const ulong cols, __global const float* restrict in, __global float* restrict out) {
  const ulong block_row = get_global_id(0);
  if (block_row >= block_rows) return;
  float sums[BLOCK_ROWS];
  for (uint i = 0; i < BLOCK_ROWS; ++i) sums[i] = 0.0f;
  const ulong end = starts[block_row + 1];
  ulong p = starts[block_row];
#ifdef PARTS
  float parts[BLOCK_ROWS][PARTS];
  for (uint i = 0; i < BLOCK_ROWS; ++i) {
    for (uint k = 0; k < PARTS; ++k) parts[i][k] = 0.0f;
  }
  for (; p + PARTS - 1 < end; p += PARTS) {
    cols_t x[PARTS];
    for (uint k = 0; k < PARTS; ++k) x[k] = block_input(in, columns[p + k], cols);
    for (uint i = 0; i < BLOCK_ROWS; ++i) {
      for (uint k = 0; k < PARTS; ++k) parts[i][k] += times(block_line(values, p + k, i), x[k]);
    }
  }
  for (uint i = 0; i < BLOCK_ROWS; ++i) {
    for (uint k = 0; k < PARTS; ++k) sums[i] += parts[i][k];
  }
#endif
  for (; p < end; ++p) {
    const cols_t x = block_input(in, columns[p], cols);
    for (uint i = 0; i < BLOCK_ROWS; ++i) sums[i] += times(block_line(values, p, i), x);
  }
  for (uint i = 0; i < BLOCK_ROWS; ++i) {
    if (block_row * BLOCK_ROWS + i < rows) STORE(block_row * BLOCK_ROWS + i, sums[i]);
  }
}
