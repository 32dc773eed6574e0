// block_product_elements: the product of block_product.clh for compressed matrices on GPUs. One
// work-item computes set id % SETS of one element.
//
// -DBITS; -DGROUP, the work-items of a group.
#if !defined(BITS) || !defined(GROUP)
#error "block_product_elements needs BITS and GROUP, beside what block_product.clh needs"
#endif
#include "matrix/block_product_border.clh"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_product(PRODUCT_PARAMETERS) {
  const long reach = REACH * (long)stride + REACH;
  const uint item = get_global_id(0);
  const uint set = item % SETS;
  const ulong inside = item / SETS;
  if (inside >= segment_rows) return;
  const ulong row = active[get_global_id(1)] * segment_rows + inside;
  const ulong at = row * SETS + set;
  const long py = (uint)row / (uint)stride;
  const long px = row - py * stride;
  Set sum;
  if ((long)row >= reach && row + reach < rows) {
    sum = (Set)(0.0f);
    WITH_DIAGONAL(sum, row, set);
#define BAND(d, dy, dx, count)                                                              \
  {                                                                                         \
    __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                                        \
    __global const Set* p = x + ((long)row + (dy) * (long)stride + (dx)) * SETS + set;      \
    UNROLL                                                                                  \
    for (uint k = 0; k < (count); ++k) sum += WEIGHT(a + k * WEIGHT_STEP(d)) * p[k * SETS]; \
  }
    BANDS
#undef BAND
  } else {
    sum = product_at_border(MATRIX_ARGUMENTS, rows, stride, x, row, px, py, set, sets);
  }
  STORE_SET(at, sum);
}
