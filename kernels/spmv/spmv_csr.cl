// spmv_csr: out = A in for CSR and, by blocks, BCSR. Block row r has the blocks starts[r] to
// starts[r + 1]; columns[p] is the first column of block p, whose elements are the BLOCK_ROWS *
// BLOCK_COLS floats from values[p * BLOCK_ROWS * BLOCK_COLS] on, by rows. CSR has blocks of 1 x 1.
//
// ITEMS work-items compute one block row, and add their sums in a tree (the scalar kernel, with one
// work-item, and the vector kernel of Bell and Garland, Implementing sparse matrix-vector
// multiplication on throughput-oriented processors, SC 2009). With -DPARTS and one work-item it
// keeps PARTS sums, each of every PARTS-th block, which a CPU computes as one vector. -DSTART: type
// of starts. -DGROUP: work-items in a group, a multiple of ITEMS; both are powers of two.
#if !defined(ITEMS) || !defined(GROUP) || !defined(START)
#error "spmv_csr needs ITEMS, GROUP, START, BLOCK_ROWS and BLOCK_COLS"
#endif
#include "spmv/spmv_block.clh"

// Row i of block p.
static inline cols_t block_line(__global const weight_t* values, const ulong p, const uint i) {
  return BLOCK_WEIGHTS(values + (p * BLOCK_ROWS + i) * BLOCK_COLS);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const START* restrict starts, __global const uint* restrict columns,
    __global const weight_t* restrict values, const ulong block_rows, const ulong rows,
    const ulong cols, VECTORS) {
  const ulong block_row = get_global_id(0) / ITEMS;
  const uint item = get_local_id(0) % ITEMS;
  float sums[BLOCK_ROWS];
  for (uint i = 0; i < BLOCK_ROWS; ++i) sums[i] = 0.0f;
  if (block_row < block_rows) {
    const ulong end = starts[block_row + 1];
    ulong p = starts[block_row] + item;
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
    for (; p < end; p += ITEMS) {
      const cols_t x = block_input(in, columns[p], cols);
      for (uint i = 0; i < BLOCK_ROWS; ++i) sums[i] += times(block_line(values, p, i), x);
    }
  }
#if ITEMS > 1
  __local float scratch[BLOCK_ROWS][GROUP];
  const uint lid = get_local_id(0);
  for (uint i = 0; i < BLOCK_ROWS; ++i) scratch[i][lid] = sums[i];
  for (uint step = ITEMS / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step) {
      for (uint i = 0; i < BLOCK_ROWS; ++i) scratch[i][lid] += scratch[i][lid + step];
    }
  }
  for (uint i = 0; i < BLOCK_ROWS; ++i) sums[i] = scratch[i][lid];
#endif
  if (item != 0 || block_row >= block_rows) return;
  for (uint i = 0; i < BLOCK_ROWS; ++i) {
    if (block_row * BLOCK_ROWS + i < rows) STORE(block_row * BLOCK_ROWS + i, sums[i]);
  }
}
