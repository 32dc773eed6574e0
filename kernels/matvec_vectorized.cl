// matvec_vectorized: out = A in for a pitched DIA matrix (values[d * pitch + row] multiplies
// in[row + offsets[d]]), four rows at a time.
//
// One work-item computes the four rows from 4 * its id on. The pitch is a multiple of four, so the
// matrix is read in whole float4: a quarter of the load instructions, and of the offsets read. x is
// read at any alignment. Groups whose rows reach no column outside [0, rows) skip the bound checks.
// -DGROUP: work-items a group.
#ifndef GROUP
#error "matvec_vectorized needs GROUP"
#endif
#include "matvec_rows4.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const long lowest, const long highest,
    const ulong rows, __global const float* restrict in,
    __global float* restrict out RECURRENCE_PARAMETERS) {
  const long first = (long)get_group_id(0) * (4 * GROUP);
  const ulong row = 4 * get_global_id(0);
  if (first + lowest >= 0 && first + 4 * GROUP + highest <= (long)rows) {
    __global const float4* a = (__global const float4*)(values + row);
    float4 sum = 0.0f;
#pragma unroll 4
    for (uint d = 0; d < diagonals; ++d, a += pitch / 4) {
      __global const float* x = in + row + offsets[d];
      sum += *a * (float4)(x[0], x[1], x[2], x[3]);
    }
    STORE4(row, sum);
  } else if (row < rows) {
    const float4 sum = border_sum4(values, offsets, diagonals, pitch, rows, in, row);
    STORE_BORDER4(row, sum);
  }
}
