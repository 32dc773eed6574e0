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
static void take_line(__global const Set* restrict block, const long stride, const long height,
                      const long first, const long run, const long py, float* restrict planes) {
  const long from = first - REACH;
  __global const float* x = (__global const float*)block + (py * stride + from) * COLUMNS;
  const bool in_image = py >= 0 && py < height;
  for (long i = 0; i < run + 2 * REACH; i += 4) {
    float16 four = (float16)(0.0f);
    if (in_image && from + i >= 0 && from + i + 4 <= stride) {
      four = vload16(0, x + i * COLUMNS);
    } else if (in_image) {
      float each[4 * COLUMNS];
      vstore16(four, 0, each);
      for (long j = 0; j < 4; ++j) {
        if (from + i + j >= 0 && from + i + j < stride) vstore4(vload4(i + j, x), j, each);
      }
      four = vload16(0, each);
    }
    vstore4(COLUMN0(four), 0, planes + i);
    vstore4(COLUMN1(four), 0, planes + WIDE + i);
    vstore4(COLUMN2(four), 0, planes + 2 * WIDE + i);
    vstore4(COLUMN3(four), 0, planes + 3 * WIDE + i);
  }
}

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
  float sums[COLUMNS * RUN];
#define LINE(y) (lines + ((y) + LINES) % LINES * (COLUMNS * WIDE))
  for (long y = top - REACH; y < top + REACH; ++y)
    take_line(x, stride, height, first, run, y, LINE(y));
  for (long py = top; py < bottom; ++py) {
    take_line(x, stride, height, first, run, py + REACH, LINE(py + REACH));
    const ulong line = py * stride;
    long whole = first;  // Elements before it have weights to the end of their vector.
    while (whole < end && WEIGHTS_EXIST(line + whole, 16)) whole += 16;
    clear_sums(sums, RUN, run);
#define BAND(d, dy, dx, count)                                                           \
  {                                                                                      \
    const float* below = LINE(py + (dy)) + REACH + (dx)-first;                           \
    for (long px = first; px < whole; px += 16) {                                        \
      const ulong row = line + px;                                                       \
      __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                                   \
      const float* p = below + px;                                                       \
      float* s = sums + (px - first);                                                    \
      float16 own[COLUMNS];                                                              \
      UNROLL                                                                             \
      for (uint c = 0; c < COLUMNS; ++c) own[c] = vload16(0, s + c * RUN);               \
      for (uint k = 0; k < (count); ++k, a += WEIGHT_STEP(d), ++p) {                     \
        PREFETCH_BELOW(a, 1);                                                            \
        const float16 weights = WEIGHTS16(a);                                            \
        UNROLL                                                                           \
        for (uint c = 0; c < COLUMNS; ++c) own[c] += weights * vload16(0, p + c * WIDE); \
      }                                                                                  \
      UNROLL                                                                             \
      for (uint c = 0; c < COLUMNS; ++c) vstore16(own[c], 0, s + c * RUN);               \
    }                                                                                    \
    for (long px = whole; px < end; ++px) {                                              \
      const ulong row = line + px;                                                       \
      __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                                   \
      for (uint k = 0; k < (count); ++k, a += WEIGHT_STEP(d)) {                          \
        for (uint c = 0; c < COLUMNS; ++c)                                               \
          sums[c * RUN + px - first] += WEIGHT(a) * below[c * WIDE + px + k];            \
      }                                                                                  \
    }                                                                                    \
  }
    ALL_BANDS
#undef BAND
    long px = first;
    for (; px + 4 <= end; px += 4) {
      const float* s = sums + (px - first);
      float16 sum =
          joined(vload4(0, s), vload4(0, s + RUN), vload4(0, s + 2 * RUN), vload4(0, s + 3 * RUN));
      const float16 own = vload16(0, (__global const float*)(x + line + px));
#ifdef BITS
      sum += EACH_ELEMENT(vload4(0, main_diagonal + line + px)) * own;
#endif
      sum = alpha * sum + beta * own;
      if (gamma != 0.0f) sum += gamma * vload16(0, (__global const float*)(other + line + px));
      vstore16(sum, 0, (__global float*)(out + line + px));
    }
    for (; px < end; ++px) {
      const float* s = sums + (px - first);
      Set sum = (Set)(s[0], s[RUN], s[2 * RUN], s[3 * RUN]);
      WITH_DIAGONAL(sum, line + px, 0);
      STORE_SET(line + px, sum);
    }
  }
}
