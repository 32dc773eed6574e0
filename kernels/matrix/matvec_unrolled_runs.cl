// matvec_unrolled_runs: the product of matvec_unrolled.clh for CPUs. One work-item computes the
// ROWS rows from ROWS * its id on, LANES at a time; their sums stay in the first cache. The terms
// come in blocks, each a loop over the run, so that no more streams of memory are open at once than
// prefetchers follow.
//
// -DROWS, a multiple of 16.
#define LANES 16
#include "matrix/matvec_lanes.clh"
#include "matrix/matvec_unrolled.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(
    __global const float* restrict values, const ulong rows, VECTORS) {
  const long group_first = (long)get_group_id(0) * (GROUP * ROWS);
  const long first = (long)get_global_id(0) * ROWS;
  if (group_first + LOWEST < 0 || group_first + GROUP * ROWS + HIGHEST > (long)rows) {
    COMPUTE_BORDER(first, kOffsets, sizeof(kOffsets) / sizeof(long) - 1, PITCH);
    return;
  }
  lanes_t sums[ROWS / LANES];
  for (long i = 0; i < ROWS; i += LANES) sums[i / LANES] = 0.0f;
  __global const float* a = values + first;
  __global const float* x = in + first;
#define BLOCK(terms)                       \
  for (long i = 0; i < ROWS; i += LANES) { \
    lanes_t sum = sums[i / LANES];         \
    terms sums[i / LANES] = sum;           \
  }
#define TERM(d, offset) sum += DIAGONAL_LANES(a + (long)d * PITCH + i) * load_lanes(x + i + offset);
  TERMS
  for (long i = 0; i < ROWS; i += LANES) STORE_LANES(first + i, sums[i / LANES]);
}
