// block_product: out = alpha (A x) + beta x + gamma other for a block of vectors (block.clh) and a
// pitched DIA matrix on a grid: values[d * pitch + row] multiplies element row + dy * stride + dx
// of x. One pass over the matrix serves all vectors, and a step of a smoother or of a three-term
// recurrence needs no other pass over them. `other` may be `out`, and is not read with gamma 0.
//
// One work-item computes RUN elements from RUN * its first id on, TILE at a time, and of each the
// TAKEN sets from TAKEN * its second id on. On a GPU, where RUN is 1, sets come first instead, so
// that neighbouring items read neighbouring words: element id / SETS, set id % SETS.
//
// -DBANDS=BAND(first diagonal, dy, first dx, number of diagonals)...; -DREACH, the largest |dx| and
// |dy|; -DRUN, a multiple of -DTILE; -DTAKEN, a divisor of SETS. Sizes are arguments: one program
// serves the levels of all images.
#if !defined(BANDS) || !defined(REACH) || !defined(RUN) || !defined(TILE) || !defined(TAKEN)
#error "block_product needs BANDS, REACH, RUN, TILE and TAKEN, beside what block.clh needs"
#endif
#include "block.clh"

// One element and one set, with the columns that do not exist left out.
static Set product_at_border(__global const float* restrict values, const ulong pitch,
                             const long rows, const long stride, __global const Set* restrict x,
                             const long row, const uint set) {
  Set sum = (Set)(0.0f);
#define BAND(d, dy, dx, count)                                      \
  for (int k = 0; k < (count); ++k) {                               \
    const long col = row + (dy)*stride + (dx) + k;                  \
    if (col >= 0 && col < rows)                                     \
      sum += values[(ulong)((d) + k) * pitch + row] * x[col * SETS + set]; \
  }
  BANDS
#undef BAND
  return sum;
}

#define STORE_SET(at, sum)                                       \
  {                                                              \
    const Set result_ = alpha * (sum) + beta * x[at];            \
    out[at] = gamma != 0.0f ? result_ + gamma * other[at] : result_; \
  }

__kernel void block_product(__global const float* restrict values, const ulong pitch,
                            const ulong rows, const ulong stride, __global const Set* restrict x,
                            __global const Set* other, __global Set* out, const float alpha,
                            const float beta, const float gamma) {
  const long reach = REACH * (long)stride + REACH;
#if RUN == 1
  const ulong at = get_global_id(0);
  const ulong row = at / SETS;
  const uint set = (uint)(at % SETS);
  if (row >= rows) return;
  Set sum;
  if ((long)row >= reach && row + reach < rows) {
    sum = (Set)(0.0f);
#define BAND(d, dy, dx, count)                                                           \
  {                                                                                      \
    __global const float* a = values + (ulong)(d)*pitch + row;                           \
    __global const Set* p = x + ((long)row + (dy) * (long)stride + (dx)) * SETS + set;   \
    UNROLL for (uint k = 0; k < (count); ++k) sum += a[k * pitch] * p[k * SETS]; \
  }
    BANDS
#undef BAND
  } else {
    sum = product_at_border(values, pitch, rows, stride, x, row, set);
  }
  STORE_SET(at, sum);
#else
  const ulong first = get_global_id(0) * RUN;
  const ulong end = min(first + RUN, rows);
  const uint set = get_global_id(1) * TAKEN;
  for (ulong row = first; row < end; row += TILE) {
    if ((long)row >= reach && row + TILE + reach <= rows) {
      Set sums[TILE * TAKEN];
      for (uint i = 0; i < TILE * TAKEN; ++i) sums[i] = (Set)(0.0f);
#define BAND(d, dy, dx, count)                                                         \
  {                                                                                    \
    __global const float* a = values + (ulong)(d)*pitch + row;                         \
    __global const Set* p = x + ((long)row + (dy) * (long)stride + (dx)) * SETS + set; \
    for (uint k = 0; k < (count); ++k, a += pitch, p += SETS) {                        \
      UNROLL for (uint i = 0; i < TILE; ++i) {                              \
        UNROLL for (uint s = 0; s < TAKEN; ++s)                             \
            sums[i * TAKEN + s] += a[i] * p[i * SETS + s];                             \
      }                                                                                \
    }                                                                                  \
  }
      BANDS
#undef BAND
      for (uint i = 0; i < TILE; ++i) {
        for (uint s = 0; s < TAKEN; ++s) STORE_SET((row + i) * SETS + set + s, sums[i * TAKEN + s]);
      }
    } else {
      for (ulong i = row; i < min(row + TILE, end); ++i) {
        for (uint s = 0; s < TAKEN; ++s) {
          STORE_SET(i * SETS + set + s,
                    product_at_border(values, pitch, rows, stride, x, i, set + s));
        }
      }
    }
  }
#endif
}
