// block_product_tiles: the product of block_product.clh for pitched matrices on GPUs. One work-item
// computes set id % SETS of the EACH elements that begin at a multiple of EACH.
//
// It goes through the matrix by bands: a band holds neighbouring diagonals d, d + 1, ..., which
// lead a pixel to neighbouring pixels (dx, dy), (dx + 1, dy), ... The drawing has EACH = 4 elements
// of an image row, and a band of 3 diagonals that leads to the row below, from dx = -1 on:
//
//   image row y        .   r0   r1   r2   r3   .      elements row + i, i = 0 to 3
//                        / |  \
//   image row y + 1    w0  w1  w2   w3   w4   w5      what they read of x: window[k + i]
//
//   sums[0] = lanes(0, 0) w[0] + lanes(1, 0) w[1] + lanes(2, 0) w[2]
//   sums[1] = lanes(0, 1) w[1] + lanes(1, 1) w[2] + lanes(2, 1) w[3]
//   sums[2] = ...
//
// with lanes(k, i) = A[row + i][its neighbour k] = values[(d + k) * pitch + row + i], where A is
// D^-1/2 W D^-1/2. So each element of the `window` w is read once for up to three elements, and
// diagonal k gives EACH neighbouring weights in one load. ADD_PRODUCT is the multiplication; what
// is around it reads its operands.
//
// -DEACH, 1 or 4, a divisor of pitch, 1 with PARTS; what band_parts.clh needs.
#if !defined(EACH)
#error "block_product_tiles needs EACH, beside what block_product.clh needs"
#endif
#include "matrix/band_parts.clh"
#include "matrix/block_product.clh"

#if EACH == 1
typedef float Weights;
#define STORE_LANES(weights, lanes) (lanes)[0] = weights
#else
typedef BLOCK_JOIN(float, EACH) Weights;
#define STORE_LANES(weights, lanes) BLOCK_JOIN(vstore, EACH)(weights, 0, lanes)
#endif

// Element i of the work-item: its weight on diagonal k of the band, times what that diagonal leads
// it to.
#define ADD_PRODUCT(i, k) sums[i] += lanes[(k)*EACH + (i)] * window[(k) + (i)]

// Adds a band to the sums of EACH elements. FROM(from) declares what READ(from, k) needs, and
// READ(from, k) is element from + k of x. The work-item asks for all that a band needs before it
// uses any of it, because a compiler does not move reads over that many sums by itself.
#define BAND(d, dy, dx, count)                                                         \
  if (IS_OF_PART(dy, part)) {                                                          \
    const long from = (long)row + (dy) * (long)width + (dx);                           \
    __global const float* a = values + (ulong)(d)*pitch + row;                         \
    FROM(from);                                                                        \
    float lanes[(count)*EACH];                                                         \
    Set window[(count) + EACH - 1];                                                    \
    UNROLL                                                                             \
    for (int k = 0; k < (count); ++k)                                                  \
      STORE_LANES(*(__global const Weights*)(a + (ulong)k * pitch), lanes + k * EACH); \
    UNROLL                                                                             \
    for (int k = 0; k < (count) + EACH - 1; ++k) window[k] = READ(from, k);            \
    UNROLL                                                                             \
    for (int k = 0; k < (count); ++k) {                                                \
      UNROLL                                                                           \
      for (int i = 0; i < EACH; ++i) ADD_PRODUCT(i, k);                                \
    }                                                                                  \
  }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_product(PRODUCT_PARAMETERS) {
  const long reach = REACH * (long)width + REACH;
  const int segment = active[get_global_id(1)];
  FACTORS(segment);
  const ulong first = segment * segment_rows;
  const ulong end = first + segment_rows;
  const uint item = SUM_OF_ITEM;
  const uint part = PART_OF_ITEM;
  const uint set = item % SETS;
  const ulong row = (first / EACH + item / SETS) * EACH;
  Set sums[EACH];
  UNROLL
  for (int i = 0; i < EACH; ++i) sums[i] = (Set)(0.0f);
  if (row >= end) {
    // Only its place in the group is needed.
  } else if ((long)row >= reach && row + EACH + reach <= rows) {
#define FROM(from) __global const Set* band = x + (from)*SETS + set
#define READ(from, k) band[(uint)(k)*SETS]
    BANDS
#undef READ
#undef FROM
  } else {
    // Weights of columns that do not exist are 0, so any number may be read in their place.
#define FROM(from)
#define READ(from, k) x[clamp((from) + (k), (long)0, (long)rows - 1) * SETS + set]
    BANDS
#undef READ
#undef FROM
  }
  ADD_PARTS(sums[0], part);
  if (part != 0) return;
  UNROLL
  for (int i = 0; i < EACH; ++i) {
    if (row + i >= first && row + i < end) STORE_SET((row + i) * SETS + set, sums[i]);
  }
}
