// spmv_bdia_local4: out = A in for a matrix of bands of adjacent diagonals; spmv_bdia.clh tells how
// they lie.
//
// One work-item computes four consecutive rows. For each band, a group copies the stretch of `in`
// that it needs, 4 GROUP + width - 1 elements, into local memory, with zeros outside of [0, cols).
// There are two barriers for each band: the next band's copy must neither overtake work-items that
// still read this one, nor be read before it is whole. The four elements of a diagonal are read as
// one aligned vector, so the pitch is a multiple of 4 and holds the last row of the last group.
// -DGROUP: work-items in a group. -DWIDEST: diagonals of the widest band.
#if !defined(GROUP) || !defined(WIDEST)
#error "spmv_bdia_local4 needs GROUP and WIDEST"
#endif
#include "spmv/spmv_bdia.clh"
#include "spmv/spmv_store4.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict firsts,
    __global const uint* restrict widths, const uint bands, const ulong pitch, const ulong rows,
    const ulong cols, __global const float* restrict in, __global float* restrict out) {
  __local float x[GROUP * 4 + WIDEST];
  const uint lid = get_local_id(0);
  const long group_first = (long)get_group_id(0) * (GROUP * 4);
  const ulong row = get_global_id(0) * 4;
  __global const float* a = values + row;
  __local const float* mine = x + lid * 4;
  float4 sum = 0.0f;
  for (uint b = 0; b < bands; ++b) {
    const long first = group_first + firsts[b];
    const uint width = widths[b];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < GROUP * 4 + width - 1; i += GROUP) x[i] = checked(in, first + i, cols);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row < rows) {
      // Four neighbouring elements of `in`, one of which is new for each diagonal.
      float x0 = mine[0], x1 = mine[1], x2 = mine[2];
      for (uint k = 0; k < width; ++k, a += pitch) {
        const float x3 = mine[k + 3];
        sum += *(__global const float4*)a * (float4)(x0, x1, x2, x3);
        x0 = x1;
        x1 = x2;
        x2 = x3;
      }
    }
  }
  if (row < rows) store4(out, row, rows, sum);
}
