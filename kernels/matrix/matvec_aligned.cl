// matvec_aligned: out = A in for a pitched DIA matrix (matvec_looped.clh), offsets read from global
// memory.
//
// One work-item computes one row. Every diagonal begins at a multiple of 128 bytes (the pitch), and
// a group's rows at a multiple of its size, so that a group's load of a diagonal touches as few
// memory transactions as can be.
#include "matrix/matvec_looped.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(DIAGONALS, VECTORS) {
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
