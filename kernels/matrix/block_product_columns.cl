// block_product_columns: the product of block_product.clh for compressed matrices on GPUs. One
// work-item computes set id % SETS of EACH elements below one another, which share what it reads of
// x; neighbouring work-items read neighbouring elements.
//
// -DBITS; -DEACH, 1 or 2, 1 with PARTS; what band_parts.clh needs.
#if !defined(BITS) || !defined(EACH)
#error "block_product_columns needs BITS and EACH, beside what block_product.clh needs"
#endif
#include "matrix/band_parts.clh"
#include "matrix/block_product.clh"

#define WINDOW (2 * REACH + 1)

// Adds what row `y` of the window gives to element i = y - dy. Rows are known when this is
// compiled, so that what none of the elements needs is left out.
#define BAND(d, dy, dx, count)                                              \
  if (y - (dy) >= 0 && y - (dy) < EACH) {                                   \
    const int i = y - (dy);                                                 \
    const long py = min(top + i, bottom);                                   \
    __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                        \
    UNROLL                                                                  \
    for (int k = 0; k < (count); ++k)                                       \
      sums[i] += WEIGHT(a + k * WEIGHT_STEP(d)) * window[(dx) + k + REACH]; \
  }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_product(PRODUCT_PARAMETERS) {
  FACTORS(active[get_global_id(1)]);
  const uint lines = segment_rows / width;
  const uint item = SUM_OF_ITEM;
  const uint part = PART_OF_ITEM;
  const uint set = item % SETS;
  const uint tile = item / SETS / (uint)width * EACH;
  const int px = item / SETS % (uint)width;
  const int top = active[get_global_id(1)] * lines + tile;
  const int bottom = top - tile + lines - 1;
  const int last = rows / width - 1;
  Set sums[EACH];
  UNROLL
  for (int i = 0; i < EACH; ++i) sums[i] = (Set)(0.0f);
  // Weights of columns that do not exist are 0, so any number may be read in their place.
  uint columns[WINDOW];
  UNROLL
  for (int k = 0; k < WINDOW; ++k)
    columns[k] = clamp(px + k - REACH, 0, (int)width - 1) * SETS + set;
  if (tile < lines) {
#pragma unroll
    for (int y = -REACH; y < EACH + REACH; ++y) {
      if (!IS_OF_PART(y, part)) continue;
      __global const Set* line = x + (ulong)clamp(top + y, 0, last) * width * SETS;
      Set window[WINDOW];
      UNROLL
      for (int k = 0; k < WINDOW; ++k) window[k] = line[columns[k]];
      BANDS
    }
  }
  ADD_PARTS(sums[0], part);
  if (part != 0) return;
  UNROLL
  for (int i = 0; i < EACH; ++i) {
    if (tile + i < lines) {
      const ulong row = (ulong)(top + i) * width + px;
      WITH_DIAGONAL(sums[i], row, set);
      STORE_SET(row * SETS + set, sums[i]);
    }
  }
}
