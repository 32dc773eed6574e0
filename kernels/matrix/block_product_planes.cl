// block_product_planes: the product of block_product.clh for blocks of four columns on CPUs, with a
// matrix in either form (block_planes.clh). A work-item computes a run of elements of ROWS image
// rows. Each sum has its terms in the same order as in block_product_runs and
// block_product_decoded.
//
// For a matrix in pitched form -DCENTRE, the number of the main diagonal; for a compressed one
// -DPAIRS=PAIR(line, dx, count, a, b)...: what two image rows y and y + 1 read of the elements of
// image row y + line, in their order: `count` neighbours from dx on, to which diagonals from a on
// lead row y, and from b on row y + 1; -1 where none leads that row. Where a processor has
// registers enough, two image rows of a compressed matrix are computed at once, 16 elements of
// each: all their sums stay in registers, and each vector of x is read once for both. The pairs are
// spelled out, because a loop over a table of them costs what it gains.
#if defined(BITS) && defined(__AVX512F__)
#define BY_TWO 1
#else
#define BY_TWO 0
#endif
#include "matrix/band_table.clh"
#include "matrix/block_planes.clh"
#include "matrix/block_product.clh"

#define LINES (2 * REACH + 1 + BY_TWO)
#define WIDE ((RUN + 2 * REACH + 15) / 16 * 16)

// The planes of the elements first - REACH and on of image row py, 0 outside of the image.
static void take_line(__global const Set* restrict block, const long stride, const long height,
                      const long first, const long run, const long py, float* restrict planes) {
  const long from = first - REACH;
  __global const float* x = (__global const float*)block + (py * stride + from) * COLUMNS;
  const bool in_image = py >= 0 && py < height;
  for (long i = 0; i < run + 2 * REACH; i += 16) {
    float16 e[4];
    if (in_image && from + i >= 0 && from + i + 16 <= stride) {
      UNROLL
      for (long j = 0; j < 4; ++j) e[j] = GLOBAL_FLOATS16(x + (i + 4 * j) * COLUMNS);
    } else {
      float each[16 * COLUMNS];
      for (long j = 0; j < 16; ++j) {
        const bool exists = in_image && from + i + j >= 0 && from + i + j < stride;
        vstore4(exists ? vload4(i + j, x) : (float4)(0.0f), j, each);
      }
      UNROLL
      for (long j = 0; j < 4; ++j) e[j] = FLOATS16(each + 16 * j);
    }
    columns_of(e);
    UNROLL
    for (long c = 0; c < COLUMNS; ++c) FLOATS16(planes + c * WIDE + i) = e[c];
  }
}

#if BY_TWO
// The weights of elements px to px + 15 of image row py for their neighbours (dx, dy). Those of
// later neighbours are read for the first time: the ones two image rows below are asked for.
static float16 weights_of(__global const WEIGHT_T* values, const ulong pitch, const long d,
                          const long dy, const long dx, const long px, const long py) {
  __global const WEIGHT_T* weights = WEIGHTS(d, dy, dx);
  if (d > DIAGONAL) PREFETCH_BELOW(weights, 2);
  return WEIGHTS16(weights);
}

#define PAIR(line, dx, count, a, b)                                                           \
  UNROLL                                                                                      \
  for (long k = 0; k < (count); ++k) {                                                        \
    const float* p = from[REACH + (line)] + (dx) + k + px;                                    \
    float16 weights[2];                                                                       \
    if ((a) >= 0) weights[0] = weights_of(values, pitch, (a) + k, line, (dx) + k, px, upper); \
    if ((b) >= 0)                                                                             \
      weights[1] = weights_of(values, pitch, (b) + k, (line)-1, (dx) + k, px, upper + 1);     \
    UNROLL                                                                                    \
    for (uint c = 0; c < COLUMNS; ++c) {                                                      \
      const float16 some = FLOATS16(p + c * WIDE);                                            \
      if ((a) >= 0) own[c] += weights[0] * some;                                              \
      if ((b) >= 0) own[COLUMNS + c] += weights[1] * some;                                    \
    }                                                                                         \
  }
#endif

// The matrix is symmetric. Its weights for neighbours in image rows above are read where they are
// those of the neighbours, which were read a few image rows before and are still near: in the
// pitched form as well, but for the first image rows, where some would lie before the first value.
#ifdef BITS
#define WEIGHTS_OF WEIGHTS
#define STEP_OF(d, dy) WEIGHT_STEP(d)
#else
#define MIRRORED(dy) ((dy) < 0 && (py + (dy)) * (long)stride >= REACH)
#define WEIGHTS_OF(d, dy, dx)                                                              \
  (MIRRORED(dy) ? values + (2 * CENTRE - (d)) * pitch + (row + (dy) * (long)stride + (dx)) \
                : WEIGHTS(d, dy, dx))
#define STEP_OF(d, dy) (MIRRORED(dy) ? 1 - (long)pitch : (long)pitch)
#endif

__kernel void block_product(PRODUCT_PARAMETERS) {
  const long height = rows / stride;
  const long run = even_run(stride, RUN);
  const long runs = (stride + run - 1) / run;
  const long first = get_global_id(0) % runs * run;
  const long end = min(first + run, (long)stride);
  const long top = get_global_id(0) / runs * ROWS;
  const long bottom = min(top + ROWS, height);
  if (top >= bottom) return;
  float lines[LINES * COLUMNS * WIDE];
  float sums[(1 + BY_TWO) * COLUMNS * RUN];
#define LINE(y) (lines + ((y) + LINES) % LINES * (COLUMNS * WIDE))
  for (long y = top - REACH; y < top + REACH; ++y)
    take_line(x, stride, height, first, run, y, LINE(y));
  long taken = 1;
  for (long upper = top; upper < bottom; upper += taken) {
    take_line(x, stride, height, first, run, upper + REACH, LINE(upper + REACH));
#if BY_TWO
    taken = min(bottom - upper, 2L);
    if (taken == 2) {
      take_line(x, stride, height, first, run, upper + 1 + REACH, LINE(upper + 1 + REACH));
      const float* from[LINES];
      UNROLL
      for (int y = 0; y < LINES; ++y) from[y] = LINE(upper - REACH + y) + REACH - first;
      for (long px = first; px < end; px += 16) {
        float16 own[2 * COLUMNS];
        UNROLL
        for (uint c = 0; c < 2 * COLUMNS; ++c) own[c] = (float16)(0.0f);
        PAIRS
        UNROLL
        for (uint c = 0; c < 2 * COLUMNS; ++c) FLOATS16(sums + c * RUN + (px - first)) = own[c];
      }
    } else
#endif
    {
      const long py = upper;
      const ulong line = py * stride;
      long whole = first;  // Elements before it have weights to the end of their vector.
      while (whole < end && WEIGHTS_EXIST(line + whole, 16)) whole += 16;
      clear_sums(sums, RUN, run);
#define BAND(d, dy, dx, count)                                                         \
  {                                                                                    \
    const float* below = LINE(py + (dy)) + REACH + (dx)-first;                         \
    for (long px = first; px < whole; px += 16) {                                      \
      const long row = line + px;                                                      \
      __global const WEIGHT_T* a = WEIGHTS_OF(d, dy, dx);                              \
      const float* p = below + px;                                                     \
      float* s = sums + (px - first);                                                  \
      float16 own[COLUMNS];                                                            \
      UNROLL                                                                           \
      for (uint c = 0; c < COLUMNS; ++c) own[c] = FLOATS16(s + c * RUN);               \
      for (uint k = 0; k < (count); ++k, a += STEP_OF(d, dy), ++p) {                   \
        PREFETCH_BELOW(a, 1);                                                          \
        const float16 weights = WEIGHTS16(a);                                          \
        UNROLL                                                                         \
        for (uint c = 0; c < COLUMNS; ++c) own[c] += weights * FLOATS16(p + c * WIDE); \
      }                                                                                \
      UNROLL                                                                           \
      for (uint c = 0; c < COLUMNS; ++c) FLOATS16(s + c * RUN) = own[c];               \
    }                                                                                  \
    for (long px = whole; px < end; ++px) {                                            \
      const long row = line + px;                                                      \
      __global const WEIGHT_T* a = WEIGHTS_OF(d, dy, dx);                              \
      for (uint k = 0; k < (count); ++k, a += STEP_OF(d, dy)) {                        \
        for (uint c = 0; c < COLUMNS; ++c)                                             \
          sums[c * RUN + px - first] += WEIGHT(a) * below[c * WIDE + px + k];          \
      }                                                                                \
    }                                                                                  \
  }
      ALL_BANDS
#undef BAND
    }
    for (long k = 0; k < taken; ++k) {
      const ulong line = (upper + k) * stride;
      const float* row_sums = sums + k * COLUMNS * RUN;
      long px = first;
      for (; px + 16 <= end; px += 16) {
        float16 e[4];
        UNROLL
        for (long c = 0; c < COLUMNS; ++c) e[c] = FLOATS16(row_sums + c * RUN + (px - first));
        elements_of(e);
        UNROLL
        for (long j = 0; j < 4; ++j) {
          const ulong at = line + px + 4 * j;
          const float16 own = GLOBAL_FLOATS16(x + at);
          float16 sum = e[j];
#ifdef BITS
          sum += EACH_ELEMENT(vload4(0, main_diagonal + at)) * own;
#endif
          sum = alpha * sum + beta * own;
          if (gamma != 0.0f) sum += gamma * GLOBAL_FLOATS16(other + at);
          GLOBAL_FLOATS16(out + at) = sum;
        }
      }
      for (; px < end; ++px) {
        const float* s = row_sums + (px - first);
        Set sum = (Set)(s[0], s[RUN], s[2 * RUN], s[3 * RUN]);
        WITH_DIAGONAL(sum, line + px, 0);
        STORE_SET(line + px, sum);
      }
    }
  }
}
