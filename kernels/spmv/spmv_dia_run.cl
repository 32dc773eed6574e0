// spmv_dia_run: out = A in for a matrix of any shape in DIA form: values[d * pitch + row]
// multiplies in[row + offsets[d]].
//
// One work-item computes a run of ROWS consecutive rows: on a CPU their sums stay in the first
// cache while the diagonals pass by, four at a time. -DGROUP: work-items in a group.
#if !defined(ROWS) || !defined(GROUP)
#error "spmv_dia_run needs ROWS and GROUP"
#endif
#include "spmv/spmv_dia_run.clh"
#include "spmv/spmv_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const ulong rows, const ulong cols,
    __global const float* restrict in, __global float* restrict out) {
  const long first = (long)get_global_id(0) * ROWS;
  if (first >= (long)rows) return;
  float sums[ROWS];
  for (long i = 0; i < ROWS; ++i) sums[i] = 0.0f;
  add_run(values, offsets, diagonals, pitch, first, rows, cols, in, sums);
  const long end = min((long)ROWS, (long)rows - first);
  for (long i = 0; i < end; ++i) STORE(first + i, sums[i]);
}
