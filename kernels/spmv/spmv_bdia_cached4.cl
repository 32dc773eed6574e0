// spmv_bdia_cached4: out = A in for a matrix of bands of adjacent diagonals; spmv_bdia.clh tells
// how they lie.
//
// One work-item computes four consecutive rows and reads `in` through the cache. The four elements
// of a diagonal are read as one aligned vector, so the pitch is a multiple of 4 and holds the last
// row of the last group. -DGROUP: work-items in a group.
#if !defined(GROUP)
#error "spmv_bdia_cached4 needs GROUP"
#endif
#include "spmv/spmv_bdia.clh"
#include "spmv/spmv_store4.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict firsts,
    __global const uint* restrict widths, const uint bands, const ulong pitch, const ulong rows,
    const ulong cols, __global const float* restrict in, __global float* restrict out) {
  const ulong row = get_global_id(0) * 4;
  if (row >= rows) return;
  __global const float* a = values + row;
  float4 sum = 0.0f;
  for (uint b = 0; b < bands; ++b) {
    const long first = (long)row + firsts[b];
    const uint width = widths[b];
    // Four neighbouring elements of `in`, one of which is new for each diagonal.
    float x0 = checked(in, first, cols);
    float x1 = checked(in, first + 1, cols);
    float x2 = checked(in, first + 2, cols);
    for (uint k = 0; k < width; ++k, a += pitch) {
      const float x3 = checked(in, first + k + 3, cols);
      sum += *(__global const float4*)a * (float4)(x0, x1, x2, x3);
      x0 = x1;
      x1 = x2;
      x2 = x3;
    }
  }
  store4(out, row, rows, sum);
}
