// spmv_dia_compiled_run: out = A in as spmv_dia_run computes it, with the offsets of the diagonals
// compiled in: -DBLOCKS=BLOCK(TERM(0,-481)TERM(1,-1)...)BLOCK(...)..., -DPITCH, -DLOWEST and
// -DHIGHEST (the least offset or 0, the largest offset or 0).
//
// One work-item computes a run of ROWS consecutive rows, passing over it once for each BLOCK.
// Groups whose rows reach no column outside [0, cols) skip the checks. -DGROUP: work-items in a
// group.
#if !defined(ROWS) || !defined(GROUP) || !defined(BLOCKS) || !defined(PITCH) || \
    !defined(LOWEST) || !defined(HIGHEST)
#error "spmv_dia_compiled_run needs ROWS, GROUP, BLOCKS, PITCH, LOWEST and HIGHEST"
#endif
#include "spmv/spmv_dia_run.clh"
#include "spmv/spmv_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const ulong rows, const ulong cols,
    __global const float* restrict in, __global float* restrict out) {
  const long group_first = (long)get_group_id(0) * (GROUP * ROWS);
  const long group_end = group_first + GROUP * ROWS;
  const long first = (long)get_global_id(0) * ROWS;
  if (first >= (long)rows) return;
  float sums[ROWS];
  for (long i = 0; i < ROWS; ++i) sums[i] = 0.0f;
  if (group_first + LOWEST >= 0 && group_end + HIGHEST <= (long)cols && group_end <= (long)rows) {
    __global const float* a = values + first;
    __global const float* x = in + first;
#define TERM(d, offset) +a[(ulong)d * PITCH + i] * x[i + offset]
#define BLOCK(terms) \
  for (long i = 0; i < ROWS; ++i) sums[i] += 0.0f terms;
    BLOCKS
#undef BLOCK
#undef TERM
    for (long i = 0; i < ROWS; ++i) STORE(first + i, sums[i]);
    return;
  }
  add_run(values, offsets, diagonals, pitch, first, rows, cols, in, sums);
  const long end = min((long)ROWS, (long)rows - first);
  for (long i = 0; i < end; ++i) STORE(first + i, sums[i]);
}
