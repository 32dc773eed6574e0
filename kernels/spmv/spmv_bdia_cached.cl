// spmv_bdia_cached: out = A in for a matrix of bands of adjacent diagonals; spmv_bdia.clh tells how
// they lie.
//
// One work-item computes one row and reads `in` through the cache. -DGROUP: work-items in a group.
#if !defined(GROUP)
#error "spmv_bdia_cached needs GROUP"
#endif
#include "spmv/spmv_bdia.clh"
#include "spmv/spmv_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict firsts,
    __global const uint* restrict widths, const uint bands, const ulong pitch, const ulong rows,
    const ulong cols, __global const float* restrict in, __global float* restrict out) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  __global const float* a = values + row;
  float sum = 0.0f;
  for (uint b = 0; b < bands; ++b) {
    const long first = (long)row + firsts[b];
    const uint width = widths[b];
    for (uint k = 0; k < width; ++k, a += pitch) sum += *a * checked(in, first + k, cols);
  }
  STORE(row, sum);
}
