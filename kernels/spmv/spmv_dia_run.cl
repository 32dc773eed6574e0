// spmv_dia_run: out = A in for a matrix of any shape in DIA form: values[d * pitch + row]
// multiplies in[row + offsets[d]].
//
// One work-item computes a run of ROWS consecutive rows: on a CPU their sums stay in the first
// cache while the diagonals pass by, four at a time. -DGROUP: work-items in a group.
//
// With -DTERMS=BLOCK(TERM(0,-481)TERM(1,-1)...)BLOCK(...)... the offsets are compiled in, and so
// are -DPITCH, -DLOWEST and -DHIGHEST (the least offset or 0, the largest offset or 0). A work-item
// then passes over its run once for each BLOCK, and groups whose rows reach no column outside
// [0, cols) skip the checks.
#if !defined(ROWS) || !defined(GROUP)
#error "spmv_dia_run needs ROWS and GROUP"
#endif
#include "spmv/spmv_weights.clh"

// Adds to sums the products of the rows from `first` on, with the diagonals in fours where all
// their columns lie in the matrix. Sums beyond the last row keep their value.
static inline void add_run(__global const weight_t* values, __global const long* offsets,
                           const uint diagonals, const ulong pitch, const long first,
                           const ulong rows, const ulong cols, __global const float* in,
                           float sums[ROWS]) {
  __global const weight_t* a = values + first;
  __global const float* x = in + first;
  uint d = 0;
  while (d < diagonals) {
    const long c0 = first + offsets[d];
    if (d + 4 <= diagonals && first + ROWS <= (long)rows) {
      const long o1 = offsets[d + 1], o2 = offsets[d + 2], o3 = offsets[d + 3];
      const long least = min(min(c0, first + o1), min(first + o2, first + o3));
      const long most = max(max(c0, first + o1), max(first + o2, first + o3));
      if (least >= 0 && most + ROWS <= (long)cols) {
        __global const weight_t* a0 = a + d * pitch;
        __global const weight_t* a1 = a0 + pitch;
        __global const weight_t* a2 = a1 + pitch;
        __global const weight_t* a3 = a2 + pitch;
        __global const float* x0 = in + c0;
        for (long i = 0; i < ROWS; ++i) {
          sums[i] += WEIGHT(a0, i) * x0[i] + WEIGHT(a1, i) * x[i + o1] + WEIGHT(a2, i) * x[i + o2] +
                     WEIGHT(a3, i) * x[i + o3];
        }
        d += 4;
        continue;
      }
    }
    const long from = max(0L, -c0);
    const long to = min((long)ROWS, min((long)rows - first, (long)cols - c0));
    __global const weight_t* a0 = a + d * pitch;
    for (long i = from; i < to; ++i) sums[i] += WEIGHT(a0, i) * in[c0 + i];
    ++d;
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const weight_t* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const ulong rows, const ulong cols, VECTORS) {
  const long first = (long)get_global_id(0) * ROWS;
  if (first >= (long)rows) return;
  float sums[ROWS];
  for (long i = 0; i < ROWS; ++i) sums[i] = 0.0f;
#ifdef TERMS
  const long group_first = (long)get_group_id(0) * (GROUP * ROWS);
  const long group_end = group_first + GROUP * ROWS;
  if (group_first + LOWEST >= 0 && group_end + HIGHEST <= (long)cols && group_end <= (long)rows) {
    __global const weight_t* a = values + first;
    __global const float* x = in + first;
#define TERM(d, offset) +WEIGHT(a, (ulong)d* PITCH + i) * x[i + offset]
#define BLOCK(terms) \
  for (long i = 0; i < ROWS; ++i) sums[i] += 0.0f terms;
    TERMS
#undef BLOCK
#undef TERM
    for (long i = 0; i < ROWS; ++i) STORE(first + i, sums[i]);
    return;
  }
#endif
  add_run(values, offsets, diagonals, pitch, first, rows, cols, in, sums);
  const long end = min((long)ROWS, (long)rows - first);
  for (long i = 0; i < end; ++i) STORE(first + i, sums[i]);
}
