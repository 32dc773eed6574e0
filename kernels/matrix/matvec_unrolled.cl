// matvec_unrolled: the product of matvec_unrolled.clh for GPUs. One work-item computes the row of
// its id, so that neighbouring work-items read neighbouring rows. There is nothing between the
// loads: a GPU keeps more of them in flight than in the blocks and runs that suit a CPU.
#include "matrix/matvec_store.clh"
#include "matrix/matvec_unrolled.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(
    __global const float* restrict values, const ulong rows, VECTORS) {
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
}
