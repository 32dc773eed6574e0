// spmv_dia_row: out = A in for a matrix of any shape in DIA form: values[d * pitch + row]
// multiplies in[row + offsets[d]] (Bell and Garland, Efficient sparse matrix-vector multiplication
// on CUDA, 2008).
//
// One work-item computes one row, so that neighbouring work-items of a GPU read neighbouring
// elements. -DGROUP: work-items in a group.
//
// With -DTERMS=BLOCK(TERM(0,-481)TERM(1,-1)...)... the offsets are compiled in, and so are -DPITCH,
// -DLOWEST and -DHIGHEST (the least offset or 0, the largest or 0). Groups whose rows reach no
// column outside [0, cols) then skip the checks.
#if !defined(GROUP)
#error "spmv_dia_row needs GROUP"
#endif
#include "spmv/spmv_weights.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const weight_t* restrict values, __global const long* restrict offsets,
    const uint diagonals, const ulong pitch, const ulong rows, const ulong cols, VECTORS) {
  const ulong row = get_global_id(0);
  float sum = 0.0f;
#ifdef TERMS
  const long first = (long)get_group_id(0) * GROUP;
  const long end = first + GROUP;
  if (first + LOWEST >= 0 && end + HIGHEST <= (long)cols && end <= (long)rows) {
#define TERM(d, offset) sum += WEIGHT(values, (ulong)d * PITCH + row) * in[(long)row + offset];
#define BLOCK(terms) terms
    TERMS
#undef BLOCK
#undef TERM
    STORE(row, sum);
    return;
  }
#endif
  if (row >= rows) return;
  for (uint d = 0; d < diagonals; ++d) {
    const ulong col = row + offsets[d];
    if (col < cols) sum += WEIGHT(values, d * pitch + row) * in[col];
  }
  STORE(row, sum);
}
