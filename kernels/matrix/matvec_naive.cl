// matvec_naive: out = A in for a DIA matrix (values[d * pitch + row] multiplies
// in[row + offsets[d]]), in the plainest way: the first step of the ladder.
//
// One work-item computes one row; for every term it reads the offset, the matrix and x from global
// memory and checks the column: 12 bytes for two operations. It asks nothing of the pitch, so it
// also runs on diagonals stored end to end. -DGROUP: work-items a group.
#ifndef GROUP
#error "matvec_naive needs GROUP"
#endif
#include "matrix/matvec_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const long lowest, const long highest,
    const ulong rows, __global const float* restrict in,
    __global float* restrict out RECURRENCE_PARAMETERS) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (uint d = 0; d < diagonals; ++d) {
    const ulong col = row + offsets[d];
    if (col < rows) sum += values[d * pitch + row] * in[col];
  }
  STORE(row, sum);
}
