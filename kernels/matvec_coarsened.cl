// matvec_coarsened: out = A in for a pitched DIA matrix (values[d * pitch + row] multiplies
// in[row + offsets[d]]), a run of rows at a time: for CPUs.
//
// One work-item computes the ROWS rows from ROWS * its id on, diagonal after diagonal: the loop over
// the rows of a diagonal is the inner one, walks three arrays with stride 1, and so becomes vector
// instructions of whatever width the CPU has. The sums stay in the first cache, and few streams of
// memory are open at once, which prefetchers can follow. At the matrix's border the columns outside
// [0, rows) are cut off the run. -DROWS: rows an item; -DGROUP: work-items a group.
#if !defined(GROUP) || !defined(ROWS)
#error "matvec_coarsened needs GROUP and ROWS"
#endif
#include "matvec_store.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const long lowest, const long highest,
    const ulong rows, __global const float* restrict in,
    __global float* restrict out RECURRENCE_PARAMETERS) {
  const long first = (long)get_global_id(0) * ROWS;
  const long count = min((long)ROWS, (long)rows - first);
  if (count <= 0) return;
  float sums[ROWS];
  for (size_t i = 0; i < ROWS; ++i) sums[i] = 0.0f;
  for (uint d = 0; d < diagonals; ++d) {
    __global const float* a = values + d * pitch + first;
    __global const float* x = in + first + offsets[d];
    if (count == ROWS && first + offsets[d] >= 0 && first + ROWS + offsets[d] <= (long)rows) {
      for (size_t i = 0; i < ROWS; ++i) sums[i] += a[i] * x[i];
    } else {
      const long begin = max(0L, -(first + offsets[d]));
      const long end = min(count, (long)rows - (first + offsets[d]));
      for (long i = begin; i < end; ++i) sums[i] += a[i] * x[i];
    }
  }
  for (size_t i = 0; i < count; ++i) STORE(first + i, sums[i]);
}
