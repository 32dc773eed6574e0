// spmv_dia: out = A in for a matrix of any shape held by diagonals: values[d * pitch + row]
// multiplies in[row + offsets[d]] (DIA; Bell and Garland, Efficient sparse matrix-vector
// multiplication on CUDA, 2008).
//
// One work-item computes the ROWS rows from ROWS * its id on. ROWS is 1 on a GPU, where items side
// by side read rows side by side, and a run on a CPU, whose sums stay in the first cache while the
// diagonals pass by four at a time. With -DTERMS=TERM(0,-481)TERM(1,-1)..., -DPITCH, -DLOWEST and
// -DHIGHEST (the least offset or 0, the largest or 0) the offsets are compiled in, and groups that
// reach no column outside [0, cols) skip the checks. -DGROUP: work-items a group.
#if !defined(ROWS) || !defined(GROUP)
#error "spmv_dia needs ROWS and GROUP"
#endif
#include "spmv/spmv_store.clh"

#ifdef TERMS
#define TERM(d, offset) offset,
__constant long kOffsets[] = {TERMS 0};  // The closing 0 is no offset: it ends the list.
#undef TERM
#define DIAGONALS ((uint)(sizeof(kOffsets) / sizeof(long) - 1))
#define OFFSET(d) kOffsets[d]
#define STEP PITCH
#else
#define DIAGONALS diagonals
#define OFFSET(d) offsets[d]
#define STEP pitch
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const ulong rows, const ulong cols,
    __global const float* restrict in, __global float* restrict out) {
#ifdef TERMS
  const long group_first = (long)get_group_id(0) * (GROUP * ROWS);
  const long group_end = group_first + GROUP * ROWS;
  const bool inside =
      group_first + LOWEST >= 0 && group_end + HIGHEST <= (long)cols && group_end <= (long)rows;
#endif
#if ROWS == 1
  const ulong row = get_global_id(0);
  float sum = 0.0f;
#ifdef TERMS
  if (inside) {
#define TERM(d, offset) sum += values[(ulong)d * PITCH + row] * in[(long)row + offset];
    TERMS
#undef TERM
    STORE(row, sum);
    return;
  }
#endif
  if (row >= rows) return;
  for (uint d = 0; d < DIAGONALS; ++d) {
    const ulong col = row + OFFSET(d);
    if (col < cols) sum += values[d * (ulong)STEP + row] * in[col];
  }
  STORE(row, sum);
#else
  const long first = (long)get_global_id(0) * ROWS;
  if (first >= (long)rows) return;
  float sums[ROWS];
  for (long i = 0; i < ROWS; ++i) sums[i] = 0.0f;
  __global const float* a = values + first;
  __global const float* x = in + first;
#ifdef TERMS
  if (inside) {
#define TERM(d, offset) +a[(ulong)d * PITCH + i] * x[i + offset]
#define BLOCK(terms) \
  for (long i = 0; i < ROWS; ++i) sums[i] += 0.0f terms;
    BLOCKS
#undef BLOCK
#undef TERM
    for (long i = 0; i < ROWS; ++i) STORE(first + i, sums[i]);
    return;
  }
#endif
  uint d = 0;
  while (d < DIAGONALS) {
    const long c0 = first + OFFSET(d);
    if (d + 4 <= DIAGONALS && first + ROWS <= (long)rows) {
      const long o1 = OFFSET(d + 1), o2 = OFFSET(d + 2), o3 = OFFSET(d + 3);
      const long least = min(min(c0, first + o1), min(first + o2, first + o3));
      const long most = max(max(c0, first + o1), max(first + o2, first + o3));
      if (least >= 0 && most + ROWS <= (long)cols) {
        __global const float* a0 = a + d * (ulong)STEP;
        __global const float* a1 = a0 + STEP;
        __global const float* a2 = a1 + STEP;
        __global const float* a3 = a2 + STEP;
        __global const float* x0 = in + c0;
        for (long i = 0; i < ROWS; ++i) {
          sums[i] += a0[i] * x0[i] + a1[i] * x[i + o1] + a2[i] * x[i + o2] + a3[i] * x[i + o3];
        }
        d += 4;
        continue;
      }
    }
    const long from = max(0L, -c0);
    const long to = min((long)ROWS, min((long)rows - first, (long)cols - c0));
    __global const float* a0 = a + d * (ulong)STEP;
    for (long i = from; i < to; ++i) sums[i] += a0[i] * in[c0 + i];
    ++d;
  }
  const long end = min((long)ROWS, (long)rows - first);
  for (long i = 0; i < end; ++i) STORE(first + i, sums[i]);
#endif
}
