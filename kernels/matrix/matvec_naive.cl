// matvec_naive: out = A in for a DIA matrix (matvec_looped.clh), in the plainest way: the first
// step of the ladder.
//
// One work-item computes one row; for every term it reads the offset, the matrix and x from global
// memory and checks the column: 12 bytes for two operations. It asks nothing of the pitch, so it
// also runs on diagonals stored end to end.
#include "matrix/matvec_looped.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(DIAGONALS, VECTORS) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (uint d = 0; d < diagonals; ++d) {
    const ulong col = row + offsets[d];
    if (col < rows) sum += values[d * pitch + row] * in[col];
  }
  STORE(row, sum);
}
