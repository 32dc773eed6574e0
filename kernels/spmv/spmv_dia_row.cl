// spmv_dia_row: out = A in for a matrix of any shape in DIA form: values[d * pitch + row]
// multiplies in[row + offsets[d]] (Bell and Garland, Efficient sparse matrix-vector multiplication
// on CUDA, 2008).
//
// One work-item computes one row, so that neighbouring work-items of a GPU read neighbouring
// elements. -DGROUP: work-items in a group.
#if !defined(GROUP)
#error "spmv_dia_row needs GROUP"
#endif
#include "spmv/spmv_dia_row.clh"
#include "spmv/spmv_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const ulong rows, const ulong cols,
    __global const float* restrict in, __global float* restrict out) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  STORE(row, row_sum(values, offsets, diagonals, pitch, row, cols, in));
}
