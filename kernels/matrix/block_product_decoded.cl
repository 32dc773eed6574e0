// block_product_decoded: the product of block_product.clh for compressed matrices on CPUs. One
// work-item computes up to RUN elements of one image row, run id % runs of it, and the TAKEN sets
// of each from TAKEN * its second id on. It decodes the weights of DECODED elements at once; these
// may reach into the next image row, or past the last one, and sums of such elements are not
// stored.
//
// -DRUN, a multiple of DECODED; what block_product_tile.clh needs; -DTILE divides DECODED.
#if !defined(BITS) || !defined(RUN)
#error "block_product_decoded needs BITS and RUN"
#endif
#define AHEAD(a)
#include "matrix/block_product_tile.clh"

#define DECODED 16

#define DECODE_BAND(d, dy, dx, count)                                          \
  {                                                                            \
    __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                           \
    for (uint k = 0; k < (count); ++k, a += WEIGHT_STEP(d), next += DECODED) { \
      PREFETCH_BELOW(a, 1);                                                    \
      vstore16(WEIGHTS16(a), 0, next);                                         \
    }                                                                          \
  }

__kernel void block_product(PRODUCT_PARAMETERS) {
  const long reach = REACH * (long)width + REACH;
  const ulong runs = (width + RUN - 1) / RUN;
  const long py = get_global_id(0) / runs;
  const ulong line = py * width;
  FACTORS(line / segment_rows);
  const ulong first = line + get_global_id(0) % runs * RUN;
  const ulong end = min(first + RUN, line + width);
  const uint set = get_global_id(1) * TAKEN;
  for (ulong row = first; row < end; row += DECODED) {
    const long px = row - line;
    if ((long)row >= reach && row + DECODED + reach <= rows) {
      float decoded[2 * DIAGONAL * DECODED];
      float* next = decoded;
#define BAND(d, dy, dx, count) DECODE_BAND(d, dy, dx, count)
      BANDS
#undef BAND
      for (uint tile = 0; tile < DECODED && row + tile < end; tile += TILE) {
        SUMS const float* a = decoded + tile;
#define BAND(d, dy, dx, count) ADD_BAND(a, DECODED, dy, dx, count, row + tile)
        ALL_BANDS
#undef BAND
        STORE_TILE(row + tile, end);
      }
    } else {
      STORE_BORDER(row, min(row + DECODED, end), line, py);
    }
  }
}
