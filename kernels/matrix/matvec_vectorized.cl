// matvec_vectorized: out = A in for a pitched DIA matrix (matvec_looped.clh), four rows at a time.
//
// One work-item computes the four rows from 4 * its id on. The pitch is a multiple of four, so the
// matrix is read in whole float4: a quarter of the load instructions, and of the offsets read. x is
// read at any alignment.
#define ROWS 4
#define LANES 4
#include "matrix/matvec_lanes.clh"
#include "matrix/matvec_looped.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(DIAGONALS, VECTORS) {
  const long first = (long)get_group_id(0) * (GROUP * LANES);
  const long row = (long)get_global_id(0) * LANES;
  if (first + lowest >= 0 && first + GROUP * LANES + highest <= (long)rows) {
    __global const float* a = values + row;
    lanes_t sum = 0.0f;
#pragma unroll 4
    for (uint d = 0; d < diagonals; ++d, a += pitch) {
      sum += DIAGONAL_LANES(a) * load_lanes(in + row + offsets[d]);
    }
    STORE_LANES(row, sum);
  } else {
    COMPUTE_BORDER(row, offsets, diagonals, pitch);
  }
}
