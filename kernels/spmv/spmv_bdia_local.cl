// spmv_bdia_local: out = A in for a matrix of bands of adjacent diagonals; spmv_bdia.clh tells how
// they lie.
//
// One work-item computes one row. For each band, a group copies the stretch of `in` that it needs,
// GROUP + width - 1 elements, into local memory, with zeros outside of [0, cols): each element
// comes from memory once. There are two barriers for each band: the next band's copy must neither
// overtake work-items that still read this one, nor be read before it is whole. -DGROUP: work-items
// in a group. -DWIDEST: diagonals of the widest band.
#if !defined(GROUP) || !defined(WIDEST)
#error "spmv_bdia_local needs GROUP and WIDEST"
#endif
#include "spmv/spmv_bdia.clh"
#include "spmv/spmv_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict firsts,
    __global const uint* restrict widths, const uint bands, const ulong pitch, const ulong rows,
    const ulong cols, __global const float* restrict in, __global float* restrict out) {
  __local float x[GROUP + WIDEST];
  const uint lid = get_local_id(0);
  const long group_first = (long)get_group_id(0) * GROUP;
  const ulong row = get_global_id(0);
  __global const float* a = values + row;
  float sum = 0.0f;
  for (uint b = 0; b < bands; ++b) {
    const long first = group_first + firsts[b];
    const uint width = widths[b];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < GROUP + width - 1; i += GROUP) x[i] = checked(in, first + i, cols);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row < rows) {
      for (uint k = 0; k < width; ++k, a += pitch) sum += *a * x[lid + k];
    }
  }
  if (row < rows) STORE(row, sum);
}
