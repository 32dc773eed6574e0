// transfer_planes: the transfers of transfer.clh for blocks of four columns on CPUs, with a matrix
// in either form (block_planes.clh). A work-item of block_prolong computes a run of fine elements
// of ROWS image rows, one of block_restrict a run of coarse elements of ROWS rows of the coarse
// grid. Elements of one parity are taken together: they reach the same entries of the stencil.
#include "eigen/multilevel/transfer.clh"
#include "matrix/band_table.clh"
#include "matrix/block_planes.clh"

#define HALF ((REACH + 1) / 2)

// WEIGHTS_OF_EVEN16(p): the weights of 16 pixels, every other one from that of p on.
#ifdef BITS
// A pixel's code is the lower half of its and its neighbour's.
#define WEIGHTS_OF_EVEN16(p)                                                                      \
  (as_float16((as_uint16(((__global const CodePairs*)(p))->value) & 0xffffu) << MANTISSA_SHIFT) * \
   UNSCALE)
typedef struct __attribute__((packed)) {
  uint16 value;
} CodePairs;
#else
#define WEIGHTS_OF_EVEN16 GLOBAL_EVEN16
#endif

#define COARSE_LINES (2 * HALF + 1)
#define COARSE_WIDE ((RUN / 2 + 2 * HALF + 15) / 16 * 16)

// The planes of the elements `from` and on of row cy of the coarse grid, 0 outside of it.
static void take_coarse(__global const Set* restrict block, const long width, const long height,
                        const long from, const long count, const long cy, float* restrict planes) {
  const bool in_image = cy >= 0 && cy < height;
  for (long i = 0; i < count; ++i) {
    const bool exists = in_image && from + i >= 0 && from + i < width;
    const float4 own = exists ? block[cy * width + from + i] : (float4)(0.0f);
    planes[i] = own.x;
    planes[COARSE_WIDE + i] = own.y;
    planes[2 * COARSE_WIDE + i] = own.z;
    planes[3 * COARSE_WIDE + i] = own.w;
  }
}

__kernel void block_prolong(PROLONG_PARAMETERS) {
  const long coarse_width = (width + 1) / 2;
  const long coarse_height = (height + 1) / 2;
  const long run = even_run(coarse_width, RUN / 2) * 2;
  const long runs = (width + run - 1) / run;
  const long first = get_global_id(0) % runs * run;
  const long end = min(first + run, (long)width);
  const long top = get_global_id(0) / runs * ROWS;
  const long bottom = min(top + ROWS, (long)height);
  if (top >= bottom) return;
  float lines[COARSE_LINES * COLUMNS * COARSE_WIDE];
  float sums[COLUMNS * RUN];  // Of even elements, then of odd ones.
#define LINE(cy) (lines + ((cy) + COARSE_LINES) % COARSE_LINES * (COLUMNS * COARSE_WIDE))
#define SUMS_OF(odd) (sums + (odd) * (COLUMNS * RUN / 2))
  const long from = first / 2 - HALF;
  long taken = top / 2 - HALF;  // The next row of the coarse grid.
  for (long py = top; py < bottom; ++py) {
    for (; taken <= py / 2 + HALF; ++taken)
      take_coarse(coarse, coarse_width, coarse_height, from, run / 2 + 2 * HALF, taken,
                  LINE(taken));
    const ulong line = py * (long)width;
    long whole = first;
    while (whole < end && WEIGHTS_EXIST(line + whole, 33)) whole += 32;
    clear_sums(SUMS_OF(0), RUN / 2, run / 2);
    clear_sums(SUMS_OF(1), RUN / 2, run / 2);
#define BAND(d, dy, dx, count)                                                                  \
  for (int odd = 0; odd < 2 && ((py + (dy)) & 1) == 0; ++odd) {                                 \
    const int start = (odd + (dx)) & 1;                                                         \
    const float* below = LINE((py + (dy)) >> 1) + ((odd + (dx) + start) >> 1) + HALF;           \
    for (long px = first + odd; px < whole; px += 32) {                                         \
      const ulong row = line + px;                                                              \
      __global const WEIGHT_T* a = WEIGHTS(d, dy, dx) + start * WEIGHT_STEP(d);                 \
      const float* p = below + (px - first) / 2;                                                \
      float* s = SUMS_OF(odd) + (px - first) / 2;                                               \
      float16 own[COLUMNS];                                                                     \
      UNROLL                                                                                    \
      for (uint c = 0; c < COLUMNS; ++c) own[c] = vload16(0, s + c * (RUN / 2));                \
      for (int k = start; k < (count); k += 2, a += 2 * WEIGHT_STEP(d), ++p) {                  \
        PREFETCH_BELOW(a, 2);                                                                   \
        const float16 weights = WEIGHTS_OF_EVEN16(a);                                           \
        UNROLL                                                                                  \
        for (uint c = 0; c < COLUMNS; ++c) own[c] += weights * vload16(0, p + c * COARSE_WIDE); \
      }                                                                                         \
      UNROLL                                                                                    \
      for (uint c = 0; c < COLUMNS; ++c) vstore16(own[c], 0, s + c * (RUN / 2));                \
    }                                                                                           \
    for (long px = whole + odd; px < end; px += 2) {                                            \
      const ulong row = line + px;                                                              \
      __global const WEIGHT_T* a = WEIGHTS(d, dy, dx) + start * WEIGHT_STEP(d);                 \
      const float* p = below + (px - first) / 2;                                                \
      for (int k = start; k < (count); k += 2, a += 2 * WEIGHT_STEP(d), ++p) {                  \
        for (uint c = 0; c < COLUMNS; ++c)                                                      \
          SUMS_OF(odd)[c * (RUN / 2) + (px - first) / 2] += WEIGHT(a) * p[c * COARSE_WIDE];     \
      }                                                                                         \
    }                                                                                           \
  }
    ALL_BANDS
#undef BAND
    for (long px = first; px < end; ++px) {
      const float* s = SUMS_OF(px & 1) + (px - first) / 2;
      Set sum = (Set)(s[0], s[RUN / 2], s[2 * (RUN / 2)], s[3 * (RUN / 2)]);
#ifdef BITS
      if (((px | py) & 1) == 0)
        sum += main_diagonal[line + px] * coarse[py / 2 * coarse_width + px / 2];
#endif
      STORE_FINE(line + px, gain[line + px] * sum);
    }
  }
#undef LINE
}

#define FINE_LINES (2 * REACH + 1)
#define FINE_WIDE COARSE_WIDE

// The planes of the elements 2 from and on of image row y times their gains, 0 outside of the
// image: those of the even elements, then those of the odd ones.
static void take_fine(__global const Set* restrict block, __global const float* restrict gain,
                      const long width, const long height, const long from, const long count,
                      const long y, float* restrict planes) {
  float* odd = planes + COLUMNS * FINE_WIDE;
  for (long i = 0; i < count; i += 2) {
    const long px = 2 * (from + i);
    const long at = y * width + px;
    float16 four = (float16)(0.0f);
    if (y >= 0 && y < height && px >= 0 && px + 4 <= width) {
      four = EACH_ELEMENT(vload4(0, gain + at)) * vload16(0, (__global const float*)(block + at));
    } else if (y >= 0 && y < height) {
      float each[4 * COLUMNS];
      vstore16(four, 0, each);
      for (long j = 0; j < 4; ++j) {
        if (px + j >= 0 && px + j < width) vstore4(gain[at + j] * block[at + j], j, each);
      }
      four = vload16(0, each);
    }
    vstore2(four.s08, 0, planes + i);
    vstore2(four.s19, 0, planes + FINE_WIDE + i);
    vstore2(four.s2a, 0, planes + 2 * FINE_WIDE + i);
    vstore2(four.s3b, 0, planes + 3 * FINE_WIDE + i);
    vstore2(four.s4c, 0, odd + i);
    vstore2(four.s5d, 0, odd + FINE_WIDE + i);
    vstore2(four.s6e, 0, odd + 2 * FINE_WIDE + i);
    vstore2(four.s7f, 0, odd + 3 * FINE_WIDE + i);
  }
}

__kernel void block_restrict(RESTRICT_PARAMETERS) {
  const long coarse_width = (width + 1) / 2;
  const long coarse_height = (height + 1) / 2;
  const long run = even_run(coarse_width, RUN / 2);
  const long runs = (coarse_width + run - 1) / run;
  const long first = get_global_id(0) % runs * run;
  const long end = min(first + run, coarse_width);
  const long top = get_global_id(0) / runs * ROWS;
  const long bottom = min(top + ROWS, coarse_height);
  if (top >= bottom) return;
  float lines[FINE_LINES * 2 * COLUMNS * FINE_WIDE];
  float sums[COLUMNS * RUN / 2];
#define LINE(y) (lines + ((y) + FINE_LINES) % FINE_LINES * (2 * COLUMNS * FINE_WIDE))
  const long from = first - HALF;
  long taken = 2 * top - REACH;  // The next image row.
  for (long cy = top; cy < bottom; ++cy) {
    const long py = 2 * cy;
    for (; taken <= py + REACH; ++taken)
      take_fine(fine, gain, width, height, from, run + 2 * HALF, taken, LINE(taken));
    const ulong line = py * (long)width;
    long whole = first;
    while (whole < end && WEIGHTS_EXIST(line + 2 * whole, 32)) whole += 16;
    clear_sums(sums, RUN / 2, run);
#define BAND(d, dy, dx, count)                                                                \
  {                                                                                           \
    const float* below = LINE(py + (dy)) + HALF;                                              \
    for (long cx = first; cx < whole; cx += 16) {                                             \
      const long px = 2 * cx;                                                                 \
      const ulong row = line + px;                                                            \
      __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                                        \
      float* s = sums + (cx - first);                                                         \
      float16 own[COLUMNS];                                                                   \
      UNROLL                                                                                  \
      for (uint c = 0; c < COLUMNS; ++c) own[c] = vload16(0, s + c * (RUN / 2));              \
      for (int k = 0; k < (count); ++k, a += WEIGHT_STEP(d)) {                                \
        PREFETCH_BELOW(a, 2);                                                                 \
        const int ahead = (dx) + k;                                                           \
        const float* p =                                                                      \
            below + (ahead & 1) * (COLUMNS * FINE_WIDE) + (ahead >> 1) + (cx - first);        \
        const float16 weights = WEIGHTS_OF_EVEN16(a);                                         \
        UNROLL                                                                                \
        for (uint c = 0; c < COLUMNS; ++c) own[c] += weights * vload16(0, p + c * FINE_WIDE); \
      }                                                                                       \
      UNROLL                                                                                  \
      for (uint c = 0; c < COLUMNS; ++c) vstore16(own[c], 0, s + c * (RUN / 2));              \
    }                                                                                         \
    for (long cx = whole; cx < end; ++cx) {                                                   \
      const long px = 2 * cx;                                                                 \
      const ulong row = line + px;                                                            \
      __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                                        \
      for (int k = 0; k < (count); ++k, a += WEIGHT_STEP(d)) {                                \
        const int ahead = (dx) + k;                                                           \
        const float* p =                                                                      \
            below + (ahead & 1) * (COLUMNS * FINE_WIDE) + (ahead >> 1) + (cx - first);        \
        for (uint c = 0; c < COLUMNS; ++c)                                                    \
          sums[c * (RUN / 2) + (cx - first)] += WEIGHT(a) * p[c * FINE_WIDE];                 \
      }                                                                                       \
    }                                                                                         \
  }
    ALL_BANDS
#undef BAND
    for (long cx = first; cx < end; ++cx) {
      const float* s = sums + (cx - first);
      Set sum = (Set)(s[0], s[RUN / 2], s[2 * (RUN / 2)], s[3 * (RUN / 2)]);
#ifdef BITS
      const ulong row = line + 2 * cx;
      sum += main_diagonal[row] * (gain[row] * fine[row]);
#endif
      coarse[cy * coarse_width + cx] = factor * sum;
    }
  }
#undef LINE
}
