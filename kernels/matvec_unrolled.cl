// matvec_unrolled: out = A in for a pitched DIA matrix (values[d * PITCH + row] multiplies
// in[row + offset of d]), with the offsets compiled in.
//
// One work-item computes one row. The sum is spelled out term by term, so that every address is a
// constant away from the row, nothing but matrix and vectors is loaded, and compilers see all loads
// at once. Groups whose rows reach no column outside [0, rows) skip the bound checks.
//
// -DTERMS=TERM(0,-2405)TERM(1,...)... in the order of the diagonals; -DLOWEST and -DHIGHEST, the
// least offset or 0, and the largest or 0; -DPITCH; -DGROUP, work-items a group.
//
// After the source article's closing remark that the offsets are known before the program is built.
#if !defined(TERMS) || !defined(LOWEST) || !defined(HIGHEST) || !defined(PITCH) || !defined(GROUP)
#error "matvec_unrolled needs TERMS, LOWEST, HIGHEST, PITCH and GROUP"
#endif
#include "matvec_store.clh"

#define TERM(d, offset) offset,
__constant long kOffsets[] = {TERMS 0};  // The closing 0 is no offset: it ends the list.
#undef TERM

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(
    __global const float* restrict values, const ulong rows, __global const float* restrict in,
    __global float* restrict out RECURRENCE_PARAMETERS) {
  const long first = (long)get_group_id(0) * GROUP;
  const ulong row = get_global_id(0);
  float sum = 0.0f;
  if (first + LOWEST >= 0 && first + GROUP + HIGHEST <= (long)rows) {
#define TERM(d, offset) sum += values[(ulong)d * PITCH + row] * in[row + offset];
    TERMS
#undef TERM
    STORE(row, sum);
  } else if (row < rows) {
    for (uint d = 0; d + 1 < sizeof(kOffsets) / sizeof(long); ++d) {
      const ulong col = row + kOffsets[d];
      if (col < rows) sum += values[d * (ulong)PITCH + row] * in[col];
    }
    STORE(row, sum);
  }
}
