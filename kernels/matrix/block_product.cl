// block_product: out = alpha (A x) + beta x + gamma other for a block of vectors (block.clh) and a
// matrix on a grid (grid_matrix.clh). One pass over the matrix serves all vectors, and a step of a
// smoother or of a three-term recurrence needs no other pass over them. `other` may be `out`, and
// is not read with gamma 0.
//
// One work-item computes RUN elements from RUN * its first id on, TILE at a time, and of each the
// TAKEN sets from TAKEN * its second id on; of a compressed matrix the elements of one image row,
// from RUN * id % row's runs on. On a GPU, where RUN is 1, sets come first instead, so that
// neighbouring items read neighbouring words: set id % SETS of the EACH elements that begin at a
// multiple of EACH, which is 1 for a compressed matrix. These share what they read of x but for
// EACH - 1 elements a band. There the images of a batch (segments of `segment_rows` elements) are
// the second dimension: active[id].
//
// -DBANDS=BAND(first diagonal, dy, first dx, number of diagonals)...; -DREACH, the largest |dx| and
// |dy|; -DRUN, a multiple of -DTILE; -DTAKEN, a divisor of SETS; with RUN 1 -DEACH, 1 or 4, and
// -DGROUP, the work-items of a group. Sizes are arguments: one program serves the levels of all
// images.
#if !defined(BANDS) || !defined(REACH) || !defined(RUN) || !defined(TILE) || !defined(TAKEN)
#error "block_product needs BANDS, REACH, RUN, TILE and TAKEN, beside what block.clh needs"
#endif
#if RUN == 1 && (!defined(EACH) || !defined(GROUP))
#error "block_product with RUN 1 needs EACH and GROUP"
#endif
#include "matrix/band_table.clh"
#include "matrix/block.clh"
#include "matrix/grid_matrix.clh"

#ifdef BITS
#define DECODED 16
#else
#define DECODED TILE
#endif

#ifdef BITS
#define WITH_DIAGONAL(sum, row, set) sum += main_diagonal[row] * x[(row)*SETS + (set)]
#else
#define WITH_DIAGONAL(sum, row, set)
#endif

#if RUN == 1 && !defined(BITS)
#if EACH == 1
typedef float Weights;
#define LANES(weights, lanes) (lanes)[0] = weights
#else
typedef BLOCK_JOIN(float, EACH) Weights;
#define LANES(weights, lanes) BLOCK_JOIN(vstore, EACH)(weights, 0, lanes)
#endif

// The sums of EACH elements, x read by READ(from, element after it) and by what FROM(from)
// declares. All that a band needs is asked for before any of it is used: a compiler does not move
// reads over that many sums by itself. Pitch is a multiple of EACH.
#define BAND(d, dy, dx, count)                                                       \
  {                                                                                  \
    const long from = (long)row + (dy) * (long)stride + (dx);                        \
    __global const float* a = values + (ulong)(d)*pitch + row;                       \
    FROM(from);                                                                      \
    float lanes[(count)*EACH];                                                       \
    Set window[(count) + EACH - 1];                                                  \
    UNROLL                                                                           \
    for (int k = 0; k < (count); ++k)                                                \
      LANES(*(__global const Weights*)(a + (ulong)k * pitch), lanes + k * EACH);     \
    UNROLL                                                                           \
    for (int k = 0; k < (count) + EACH - 1; ++k) window[k] = READ(from, k);          \
    UNROLL                                                                           \
    for (int k = 0; k < (count); ++k) {                                              \
      UNROLL                                                                         \
      for (int i = 0; i < EACH; ++i) sums[i] += lanes[k * EACH + i] * window[k + i]; \
    }                                                                                \
  }
#else
// One element and one set, with the columns that do not exist left out.
static Set product_at_border(MATRIX, const long rows, const long stride,
                             __global const Set* restrict x, const long row, const long px,
                             const long py, const uint set, const uint sets) {
  Set sum = (Set)(0.0f);
  WITH_DIAGONAL(sum, row, set);
#define BAND(d, dy, dx, count)                                             \
  for (int k = 0; k < (count); ++k) {                                      \
    const long col = row + (dy)*stride + (dx) + k;                         \
    if (col >= 0 && col < rows)                                            \
      sum += WEIGHT(WEIGHTS((d) + k, dy, (dx) + k)) * x[col * SETS + set]; \
  }
  ALL_BANDS
#undef BAND
  return sum;
}
#endif

#define STORE_SET(at, sum)                                           \
  {                                                                  \
    const Set result_ = alpha * (sum) + beta * x[at];                \
    out[at] = gamma != 0.0f ? result_ + gamma * other[at] : result_; \
  }

#if RUN == 1
#define WORK_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#else
#define WORK_GROUP
#endif
__kernel WORK_GROUP void block_product(MATRIX, const ulong rows, const ulong stride,
                                       __global const Set* restrict x, __global const Set* other,
                                       __global Set* out, const float alpha, const float beta,
                                       const float gamma, __global const int* restrict active,
                                       const ulong segment_rows, const uint sets) {
  const long reach = REACH * (long)stride + REACH;
#if RUN == 1 && !defined(BITS)
  const ulong first = active[get_global_id(1)] * segment_rows;
  const ulong end = first + segment_rows;
  const uint item = get_global_id(0);
  const uint set = item % SETS;
  const ulong row = (first / EACH + item / SETS) * EACH;
  if (row >= end) return;
  Set sums[EACH];
  UNROLL
  for (int i = 0; i < EACH; ++i) sums[i] = (Set)(0.0f);
  if ((long)row >= reach && row + EACH + reach <= rows) {
#define FROM(from) __global const Set* band = x + (from)*SETS + set
#define READ(from, k) band[(uint)(k)*SETS]
    BANDS
#undef READ
#undef FROM
  } else {
    // Weights of columns that do not exist are 0: whatever is read in their place is some number.
#define FROM(from)
#define READ(from, k) x[clamp((from) + (k), (long)0, (long)rows - 1) * SETS + set]
    BANDS
#undef READ
#undef FROM
  }
  UNROLL
  for (int i = 0; i < EACH; ++i) {
    if (row + i >= first && row + i < end) STORE_SET((row + i) * SETS + set, sums[i]);
  }
#elif RUN == 1
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
#else
#ifdef BITS
  // Of a compressed matrix, the weights of DECODED elements are decoded at once, those of the next
  // image row, or of none, as well: sums of those are not stored.
  const ulong runs = (stride + RUN - 1) / RUN;
  const long py = get_global_id(0) / runs;
  const ulong line = py * stride;
  const ulong first = line + get_global_id(0) % runs * RUN;
  const ulong end = min(first + RUN, line + stride);
#else
  const ulong line = 0;
  const long py = 0;
  const ulong first = get_global_id(0) * RUN;
  const ulong end = min(first + RUN, rows);
#endif
  const uint set = get_global_id(1) * TAKEN;
  for (ulong row = first; row < end; row += DECODED) {
    const long px = row - line;
    if ((long)row >= reach && row + DECODED + reach <= rows) {
#ifdef BITS
      float decoded[2 * DIAGONAL * DECODED];
      float* next = decoded;
#define BAND(d, dy, dx, count)                                                 \
  {                                                                            \
    __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                           \
    for (uint k = 0; k < (count); ++k, a += WEIGHT_STEP(d), next += DECODED) { \
      LOAD_WEIGHTS(DECODED, next, a);                                          \
    }                                                                          \
  }
      BANDS
#undef BAND
#endif
      for (uint tile = 0; tile < DECODED && row + tile < end; tile += TILE) {
        Set sums[TILE * TAKEN];
        for (uint i = 0; i < TILE * TAKEN; ++i) sums[i] = (Set)(0.0f);
#ifdef BITS
        const float* a = decoded + tile;
#define FIRST_OF_BAND(d, dy, dx)
#define STEP DECODED
#else
#define FIRST_OF_BAND(d, dy, dx) __global const float* a = WEIGHTS(d, dy, dx)
#define STEP pitch
#endif
#define BAND(d, dy, dx, count)                                                                  \
  {                                                                                             \
    FIRST_OF_BAND(d, dy, dx);                                                                   \
    __global const Set* p = x + ((long)(row + tile) + (dy) * (long)stride + (dx)) * SETS + set; \
    for (uint k = 0; k < (count); ++k, a += STEP, p += SETS) {                                  \
      UNROLL                                                                                    \
      for (uint i = 0; i < TILE; ++i) {                                                         \
        UNROLL                                                                                  \
        for (uint s = 0; s < TAKEN; ++s) sums[i * TAKEN + s] += a[i] * p[i * SETS + s];         \
      }                                                                                         \
    }                                                                                           \
  }
        ALL_BANDS
#undef BAND
        for (uint i = 0; i < TILE; ++i) {
          const ulong at = row + tile + i;
          if (at >= end) break;
          for (uint s = 0; s < TAKEN; ++s) {
            WITH_DIAGONAL(sums[i * TAKEN + s], at, set + s);
            STORE_SET(at * SETS + set + s, sums[i * TAKEN + s]);
          }
        }
      }
    } else {
      for (ulong i = row; i < min(row + DECODED, end); ++i) {
        for (uint s = 0; s < TAKEN; ++s) {
          STORE_SET(i * SETS + set + s, product_at_border(MATRIX_ARGUMENTS, rows, stride, x, i,
                                                          i - line, py, set + s, sets));
        }
      }
    }
  }
#endif
}
