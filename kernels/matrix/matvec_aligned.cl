// matvec_aligned: out = A in for a pitched DIA matrix (values[d * pitch + row] multiplies
// in[row + offsets[d]]), offsets read from global memory.
//
// One work-item computes one row. Every diagonal begins at a multiple of 128 bytes (the pitch), and
// a group's rows at a multiple of its size, so that a group's load of a diagonal touches as few
// memory transactions as can be. Groups whose rows reach no column outside [0, rows) skip the bound
// checks; `lowest` and `highest` are the least offset or 0, and the largest or 0. -DGROUP:
// work-items a group.
#ifndef GROUP
#error "matvec_aligned needs GROUP"
#endif
#include "matrix/matvec_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const long lowest, const long highest,
    const ulong rows, __global const float* restrict in,
    __global float* restrict out RECURRENCE_PARAMETERS) {
  const long first = (long)get_group_id(0) * GROUP;
  const ulong row = get_global_id(0);
  __global const float* a = values + row;
  float sum = 0.0f;
  if (first + lowest >= 0 && first + GROUP + highest <= (long)rows) {
#pragma unroll 8
    for (uint d = 0; d < diagonals; ++d, a += pitch) sum += *a * in[row + offsets[d]];
    STORE(row, sum);
  } else if (row < rows) {
    for (uint d = 0; d < diagonals; ++d, a += pitch) {
      const ulong col = row + offsets[d];
      if (col < rows) sum += *a * in[col];
    }
    STORE(row, sum);
  }
}
