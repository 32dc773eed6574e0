// matvec_coarsened: out = A in for a pitched DIA matrix (matvec_looped.clh), a run of rows at a
// time: for CPUs.
//
// One work-item computes the ROWS rows from ROWS * its id on, BLOCK diagonals at a time: the inner
// loop walks along the run, in vectors as wide as any CPU's, over as many streams of memory as
// prefetchers follow (81 at once they do not). The sums stay in the first cache. -DROWS: rows an
// item, a multiple of 16.
#define LANES 16
#include "matrix/matvec_lanes.clh"
#include "matrix/matvec_looped.clh"
#define BLOCK 8

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(DIAGONALS, VECTORS) {
  const long first = (long)get_global_id(0) * ROWS;
  if (first + lowest < 0 || first + ROWS + highest > (long)rows) {
    COMPUTE_BORDER(first, offsets, diagonals, pitch);
    return;
  }
  lanes_t sums[ROWS / LANES];
  for (long i = 0; i < ROWS; i += LANES) sums[i / LANES] = 0.0f;
  __global const float* a = values + first;
  __global const float* x = in + first;
  uint d = 0;
  for (; d + BLOCK <= diagonals; d += BLOCK, a += BLOCK * pitch) {
    for (long i = 0; i < ROWS; i += LANES) {
      lanes_t sum = sums[i / LANES];
#pragma unroll
      for (uint k = 0; k < BLOCK; ++k) {
        sum += DIAGONAL_LANES(a + k * pitch + i) * load_lanes(x + offsets[d + k] + i);
      }
      sums[i / LANES] = sum;
    }
  }
  for (; d < diagonals; ++d, a += pitch) {
    for (long i = 0; i < ROWS; i += LANES) {
      sums[i / LANES] += DIAGONAL_LANES(a + i) * load_lanes(x + offsets[d] + i);
    }
  }
  for (long i = 0; i < ROWS; i += LANES) STORE_LANES(first + i, sums[i / LANES]);
}
