// block_product_runs: the product of block_product.clh for pitched matrices on CPUs. One work-item
// computes RUN elements of one image, run id % runs of it, and the TAKEN sets of each from TAKEN *
// its second id on.
//
// -DRUN, a multiple of -DTILE; what block_product_tile.clh needs.
#if !defined(RUN)
#error "block_product_runs needs RUN"
#endif
#define AHEAD(a) PREFETCH_BELOW(a, 1)
#include "matrix/block_product_tile.clh"

#define BAND(d, dy, dx, count)                    \
  {                                               \
    __global const float* a = WEIGHTS(d, dy, dx); \
    ADD_BAND(a, pitch, dy, dx, count, row);       \
  }

__kernel void block_product(PRODUCT_PARAMETERS) {
  const long reach = REACH * (long)width + REACH;
  const ulong runs = (segment_rows + RUN - 1) / RUN;
  const ulong segment = get_global_id(0) / runs;
  FACTORS(segment);
  const ulong first = segment * segment_rows + get_global_id(0) % runs * RUN;
  const ulong end = min(first + RUN, (segment + 1) * segment_rows);
  const uint set = get_global_id(1) * TAKEN;
  for (ulong row = first; row < end; row += TILE) {
    if ((long)row >= reach && row + TILE + reach <= rows) {
      SUMS ALL_BANDS STORE_TILE(row, end);
    } else {
      // A pitched matrix is read by elements alone: the place in the image row has no meaning.
      STORE_BORDER(row, min(row + TILE, end), 0, 0);
    }
  }
}
