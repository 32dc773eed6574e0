// matvec_local: out = A in for a pitched DIA matrix (matvec_looped.clh), offsets held in local
// memory.
//
// One work-item computes one row. A group copies the offsets into local memory once, instead of
// each of its items reading them all: 8 bytes of memory for two operations instead of 12. That goes
// in blocks of BLOCK offsets, so that any number of diagonals fits; two barriers a block, because
// the copy of the next block must not overtake readers of this one.
#include "matrix/matvec_looped.clh"
#define BLOCK 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(DIAGONALS, VECTORS) {
  __local long block[BLOCK];
  const long first = (long)get_group_id(0) * GROUP;
  const bool interior = first + lowest >= 0 && first + GROUP + highest <= (long)rows;
  const ulong row = get_global_id(0);
  __global const float* a = values + row;
  float sum = 0.0f;
  for (uint begin = 0; begin < diagonals; begin += BLOCK) {
    const uint count = min((uint)BLOCK, diagonals - begin);
    barrier(CLK_LOCAL_MEM_FENCE);  // Everyone is done with the block before.
    for (uint i = get_local_id(0); i < count; i += GROUP) block[i] = offsets[begin + i];
    barrier(CLK_LOCAL_MEM_FENCE);  // The block is whole.
    if (interior) {
#pragma unroll 8
      for (uint i = 0; i < count; ++i, a += pitch) sum += *a * in[row + block[i]];
    } else if (row < rows) {
      for (uint i = 0; i < count; ++i, a += pitch) {
        const ulong col = row + block[i];
        if (col < rows) sum += *a * in[col];
      }
    }
  }
  if (row < rows) STORE(row, sum);
}
