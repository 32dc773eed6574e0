// spmv_stream: out = A in for CSR, balanced by non-zeros (CSR-Adaptive; Greathouse and Daga,
// Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format, SC 2014).
//
// Group g computes the rows bounds[g] to bounds[g + 1]: either at most GROUP rows whose products
// fit the TILE floats of local memory, or a single longer row. Neighbouring work-items read
// neighbouring entries, whatever the lengths of rows. Then each row's products are added by several
// work-items, the largest power of two for which the group has enough, and their sums are added in
// a tree. -DSTART: type of starts. -DGROUP: work-items in a group, a power of two.
#if !defined(GROUP) || !defined(TILE) || !defined(START)
#error "spmv_stream needs GROUP, TILE and START"
#endif
#include "spmv/spmv_weights.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const uint* restrict bounds, __global const START* restrict starts,
    __global const uint* restrict columns, __global const weight_t* restrict values, VECTORS) {
  __local float products[TILE];
  __local float scratch[GROUP];
  const uint lid = get_local_id(0);
  const uint first = bounds[get_group_id(0)];
  const uint rows = bounds[get_group_id(0) + 1] - first;
  const ulong begin = starts[first];
  const ulong end = starts[first + rows];
  uint shift = 0;
  while ((rows << (shift + 1)) <= GROUP) ++shift;
  const uint items = 1u << shift;  // A row.
  const uint r = lid >> shift;
  const uint item = lid & (items - 1);
  float sum = 0.0f;
  // Barriers stand outside of branches: some compilers for CPUs want them there.
  if (rows == 1) {
    for (ulong p = begin + lid; p < end; p += GROUP) sum += WEIGHT(values, p) * in[columns[p]];
  } else {
    for (ulong p = begin + lid; p < end; p += GROUP) {
      products[p - begin] = WEIGHT(values, p) * in[columns[p]];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (rows > 1 && r < rows) {
    const uint row_end = starts[first + r + 1] - begin;
    for (uint p = starts[first + r] - begin + item; p < row_end; p += items) {
      sum += products[p];
    }
  }
  scratch[lid] = sum;
  for (uint step = GROUP / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < step && step < items) scratch[lid] += scratch[lid + step];
  }
  if (item == 0 && r < rows) STORE(first + r, scratch[lid]);
}
