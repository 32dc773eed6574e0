// spmv_dia_compiled: out = A in as spmv_dia_row computes it, with the offsets of the diagonals
// compiled in: -DTERMS=TERM(0,-481)TERM(1,-1)..., -DPITCH, -DLOWEST and -DHIGHEST (the least offset
// or 0, the largest offset or 0).
//
// One work-item computes one row. Groups whose rows reach no column outside [0, cols) skip the
// checks. -DGROUP: work-items in a group.
#if !defined(GROUP) || !defined(TERMS) || !defined(PITCH) || !defined(LOWEST) || !defined(HIGHEST)
#error "spmv_dia_compiled needs GROUP, TERMS, PITCH, LOWEST and HIGHEST"
#endif
#include "spmv/spmv_dia_row.clh"
#include "spmv/spmv_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const ulong rows, const ulong cols,
    __global const float* restrict in, __global float* restrict out) {
  const long group_first = (long)get_group_id(0) * GROUP;
  const long group_end = group_first + GROUP;
  const ulong row = get_global_id(0);
  if (group_first + LOWEST >= 0 && group_end + HIGHEST <= (long)cols && group_end <= (long)rows) {
    float sum = 0.0f;
#define TERM(d, offset) sum += values[(ulong)d * PITCH + row] * in[(long)row + offset];
    TERMS
#undef TERM
    STORE(row, sum);
    return;
  }
  if (row >= rows) return;
  STORE(row, row_sum(values, offsets, diagonals, pitch, row, cols, in));
}
