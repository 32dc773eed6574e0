// block_product_planes: the product of block_product.clh for blocks of four columns on CPUs, with a
// matrix in either form (block_planes.clh). A work-item computes a run of elements of ROWS image
// rows. Each sum has its terms in the same order as in block_product_runs and
// block_product_decoded.
#include "matrix/band_table.clh"
#include "matrix/block_planes.clh"
#include "matrix/block_product.clh"

#define LINES (2 * REACH + 1)
#define WIDE ((RUN + 2 * REACH + 15) / 16 * 16)

// The planes of the elements first - REACH and on of image row py, 0 outside of the image.
static void take_line(__global const Set* restrict block, const long width, const long height,
                      const long first, const long run, const long py, float* restrict planes) {
  const long from = first - REACH;
  __global const float* x = (__global const float*)block + (py * width + from) * COLUMNS;
  const bool in_image = py >= 0 && py < height;
  for (long i = 0; i < run + 2 * REACH; i += 16) {
    float16 e[4];
    if (in_image && from + i >= 0 && from + i + 16 <= width) {
      UNROLL
      for (long j = 0; j < 4; ++j) e[j] = GLOBAL_FLOATS16(x + (i + 4 * j) * COLUMNS);
    } else {
      float each[16 * COLUMNS];
      for (long j = 0; j < 16; ++j) {
        const bool exists = in_image && from + i + j >= 0 && from + i + j < width;
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

__kernel void block_product(PRODUCT_PARAMETERS) {
  const long height = rows / width;
  const long run = even_run(width, RUN);
  const long runs = (width + run - 1) / run;
  const long first = get_global_id(0) % runs * run;
  const long end = min(first + run, (long)width);
  const long top = get_global_id(0) / runs * ROWS;
  const long bottom = min(top + ROWS, height);
  if (top >= bottom) return;
  FACTORS(0);  // A block of four columns is of one image.
  float lines[LINES * COLUMNS * WIDE];
  float sums[COLUMNS * RUN];
#define LINE(y) (lines + ((y) + LINES) % LINES * (COLUMNS * WIDE))
  for (long y = top - REACH; y < top + REACH; ++y)
    take_line(x, width, height, first, run, y, LINE(y));
  for (long py = top; py < bottom; ++py) {
    take_line(x, width, height, first, run, py + REACH, LINE(py + REACH));
    const ulong line = py * width;
    long whole = first;  // Elements before it have weights to the end of their vector.
    while (whole < end && WEIGHTS_EXIST(line + whole, 16)) whole += 16;
    clear_sums(sums, RUN, run);
#define BAND(d, dy, dx, count)                                                         \
  {                                                                                    \
    const float* below = LINE(py + (dy)) + REACH + (dx)-first;                         \
    for (long px = first; px < whole; px += 16) {                                      \
      const long row = line + px;                                                      \
      __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                                 \
      const float* p = below + px;                                                     \
      float* s = sums + (px - first);                                                  \
      float16 own[COLUMNS];                                                            \
      UNROLL                                                                           \
      for (uint c = 0; c < COLUMNS; ++c) own[c] = FLOATS16(s + c * RUN);               \
      for (uint k = 0; k < (count); ++k, a += WEIGHT_STEP(d), ++p) {                   \
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
      __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                                 \
      for (uint k = 0; k < (count); ++k, a += WEIGHT_STEP(d)) {                        \
        for (uint c = 0; c < COLUMNS; ++c)                                             \
          sums[c * RUN + px - first] += WEIGHT(a) * below[c * WIDE + px + k];          \
      }                                                                                \
    }                                                                                  \
  }
    ALL_BANDS
#undef BAND
    long px = first;
    for (; px + 16 <= end; px += 16) {
      float16 e[4];
      UNROLL
      for (long c = 0; c < COLUMNS; ++c) e[c] = FLOATS16(sums + c * RUN + (px - first));
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
      const float* s = sums + (px - first);
      Set sum = (Set)(s[0], s[RUN], s[2 * RUN], s[3 * RUN]);
      WITH_DIAGONAL(sum, line + px, 0);
      STORE_SET(line + px, sum);
    }
  }
}
