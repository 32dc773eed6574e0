// matvec_unrolled: out = A in for a pitched DIA matrix (values[d * PITCH + row] multiplies
// in[row + offset of d]), with the offsets compiled in.
//
// One work-item computes the ROWS rows from ROWS * its id on, LANES at a time. The sums are spelled
// out term by term: every address is a constant away from the row, nothing but matrix and vectors
// is loaded, and the compiler sees many loads at once. On a GPU, ROWS is 1: items side by side read
// rows side by side. On a CPU, ROWS is a run whose sums stay in the first cache, and the terms come
// in blocks, each a loop over the run: no more streams of memory are open at once than prefetchers
// follow. Groups whose rows reach no column outside [0, rows) skip the bound checks.
//
// -DTERMS=BLOCK(TERM(0,-2405)TERM(1,-1927)...)BLOCK(...)... in the order of the diagonals; -DLOWEST
// and -DHIGHEST, the least offset or 0, and the largest or 0; -DPITCH; -DROWS, a multiple of
// -DLANES; -DGROUP, work-items a group.
#if !defined(TERMS) || !defined(LOWEST) || !defined(HIGHEST) || !defined(PITCH) || \
    !defined(ROWS) || !defined(LANES) || !defined(GROUP)
#error "matvec_unrolled needs TERMS, LOWEST, HIGHEST, PITCH, ROWS, LANES and GROUP"
#endif
#include "matrix/matvec_lanes.clh"

#define BLOCK(terms) terms
#define TERM(d, offset) offset,
__constant long kOffsets[] = {TERMS 0};  // The closing 0 is no offset: it ends the list.
#undef TERM
#undef BLOCK

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(
    __global const float* restrict values, const ulong rows, __global const float* restrict in,
    __global float* restrict out RECURRENCE_PARAMETERS) {
#if ROWS == 1
  // Nothing between the loads: a GPU keeps more of them in flight than with blocks and runs.
  const ulong row = get_global_id(0);
  const long group_first = (long)get_group_id(0) * GROUP;
  if (group_first + LOWEST >= 0 && group_first + GROUP + HIGHEST <= (long)rows) {
    float sum = 0.0f;
#define BLOCK(terms) terms
#define TERM(d, offset) sum += values[(ulong)d * PITCH + row] * in[row + offset];
    TERMS
#undef TERM
#undef BLOCK
    STORE(row, sum);
  } else if (row < rows) {
    float sum = 0.0f;
    for (uint d = 0; d + 1 < sizeof(kOffsets) / sizeof(long); ++d) {
      const ulong col = row + kOffsets[d];
      if (col < rows) sum += values[d * (ulong)PITCH + row] * in[col];
    }
    STORE(row, sum);
  }
#else
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
#endif
}
