// matvec_coarsened: out = A in for a pitched DIA matrix (values[d * pitch + row] multiplies
// in[row + offsets[d]]), a run of rows at a time: for CPUs.
//
// One work-item computes the ROWS rows from ROWS * its id on, four diagonals after four: the loop over
// the rows is the inner one, walks every array with stride 1, and so becomes vector instructions of
// whatever width the CPU has. The sums stay in the first cache, and only few streams of memory are
// open at once, which prefetchers can follow. -DROWS: rows an item; -DGROUP: work-items a group.
#if !defined(GROUP) || !defined(ROWS)
#error "matvec_coarsened needs GROUP and ROWS"
#endif
#include "matvec_run.clh"

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
  uint d = 0;
  if (first + lowest >= 0 && first + ROWS + highest <= (long)rows) {
    for (; d + 4 <= diagonals; d += 4) {
      __global const float* a = values + d * pitch + first;
      __global const float* x0 = in + first + offsets[d];
      __global const float* x1 = in + first + offsets[d + 1];
      __global const float* x2 = in + first + offsets[d + 2];
      __global const float* x3 = in + first + offsets[d + 3];
      for (size_t i = 0; i < ROWS; ++i) {
        float sum = sums[i];
        sum += a[i] * x0[i];
        sum += a[pitch + i] * x1[i];
        sum += a[2 * pitch + i] * x2[i];
        sum += a[3 * pitch + i] * x3[i];
        sums[i] = sum;
      }
    }
  }
  for (; d < diagonals; ++d) {
    add_diagonal(sums, values + d * pitch, in, first, count, offsets[d], rows);
  }
  for (long i = 0; i < count; ++i) STORE(first + i, sums[i]);
}
