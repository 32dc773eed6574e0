// block_transfer: blocks of vectors (block.clh) between an image's grid and that of every other row
// and column, by the interpolation P_iJ = gain_i A_iJ of coarsen.cl and by its transpose. A is a
// matrix (grid_matrix.clh) on the fine grid of `width` x `height` pixels, `stride` elements apart;
// the coarse grid's stride is its width.
//
// With RUN 1, for GPUs, a work-item computes one set, id % SETS, of one coarse element or of two
// neighbouring fine ones (of a compressed matrix one), which share what they read. There the images
// of a batch (segments of `segment_height` image rows) are the second dimension: active[id].
// Otherwise, for CPUs, it computes the elements of one image row from RUN * id % row's
// runs on, TILE at a time, and of each the TAKEN sets from TAKEN * its second id on.
//
// -DBANDS=BAND(first diagonal, dy, first dx, number of diagonals)... of the disc; -DREACH, the
// largest |dx| and |dy|; -DRUN, a multiple of 2 * -DTILE; -DTAKEN, a divisor of SETS.
#if !defined(BANDS) || !defined(REACH) || !defined(RUN) || !defined(TILE) || !defined(TAKEN)
#error "block_transfer needs BANDS, REACH, RUN, TILE and TAKEN, beside what block.clh needs"
#endif
#include "matrix/band_table.clh"
#include "matrix/block.clh"
#include "matrix/grid_matrix.clh"

#if TILE == 4
#define PAIRS 8  // 2 TILE
#elif TILE == 8
#define PAIRS 16
#elif RUN > 1
#error "block_transfer: TILE must be 4 or 8"
#endif

#if RUN > 1 || defined(BITS)
// Row (px, py) of P times one set of the coarse block, without the gain.
static Set interpolated(MATRIX, const int width, const int height, const ulong row, const int px,
                        const int py, __global const Set* restrict coarse, const uint set,
                        const uint sets) {
  const long coarse_width = (width + 1) / 2;
  Set sum = (Set)(0.0f);
#ifdef BITS
  if (((px | py) & 1) == 0 && px < width)
    sum = main_diagonal[row] * coarse[(py / 2 * coarse_width + px / 2) * SETS + set];
#endif
#define BAND(d, dy, dx, count)                                                       \
  if (py + (dy) >= 0 && py + (dy) < height && ((py + (dy)) & 1) == 0) {              \
    __global const Set* line = coarse + (py + (dy)) / 2 * coarse_width * SETS + set; \
    for (int k = (px + (dx)) & 1; k < (count); k += 2) {                             \
      const int nx = px + (dx) + k;                                                  \
      if (nx >= 0 && nx < width)                                                     \
        sum += WEIGHT(WEIGHTS((d) + k, dy, (dx) + k)) * line[(long)(nx / 2) * SETS]; \
    }                                                                                \
  }
  ALL_BANDS
#undef BAND
  return sum;
}

// Row (px, py), both even, of P' times one set of the fine block.
static Set restricted(MATRIX, __global const float* restrict gain, const int width,
                      const int height, const int stride, const int px, const int py,
                      __global const Set* restrict fine, const uint set, const uint sets) {
  const ulong row = (ulong)py * stride + px;
  Set sum = (Set)(0.0f);
#ifdef BITS
  sum = main_diagonal[row] * gain[row] * fine[row * SETS + set];
#endif
#define BAND(d, dy, dx, count)                                            \
  if (py + (dy) >= 0 && py + (dy) < height) {                             \
    const ulong line = (ulong)(py + (dy)) * stride;                       \
    for (int k = 0; k < (count); ++k) {                                   \
      const int nx = px + (dx) + k;                                       \
      if (nx >= 0 && nx < width)                                          \
        sum += WEIGHT(WEIGHTS((d) + k, dy, (dx) + k)) * gain[line + nx] * \
               fine[(line + nx) * SETS + set];                            \
    }                                                                     \
  }
  ALL_BANDS
#undef BAND
  return sum;
}

#endif

// The sum is rounded by itself, wherever it comes from: which elements are taken several at a time
// depends on how wide blocks are, and must not show.
#define STORE_FINE(at, sum)                  \
  {                                          \
    const Set sum_ = sum;                    \
    fine[at] = add ? fine[at] + sum_ : sum_; \
  }

// fine = P coarse, or fine += P coarse with add 1.
__kernel void block_prolong(MATRIX, __global const float* restrict gain, const int width,
                            const int height, const int stride, __global const Set* restrict coarse,
                            const int add, __global Set* restrict fine,
                            __global const int* restrict active, const int segment_height,
                            const uint sets) {
#if RUN == 1 && !defined(BITS)
  const int half_stride = (stride + 1) / 2;
  const uint item = get_global_id(0);
  const uint set = item % SETS;
  const uint pair = item / SETS;
  const int cx = pair % half_stride;
  const int line = pair / half_stride;
  if (line >= segment_height) return;
  const int py = active[get_global_id(1)] * segment_height + line;
  const ulong row = (ulong)py * stride + 2 * cx;
  const bool two = 2 * cx + 1 < stride;
  const int coarse_width = (width + 1) / 2;
  const int coarse_height = (height + 1) / 2;
  __global const float* left = values + row;
  __global const float* right = left + (two ? 1 : 0);
  Set sums[2] = {(Set)(0.0f), (Set)(0.0f)};
  // Pixel 2 cx reaches the coarse column cx + j by dx = 2 j, its neighbour by 2 j - 1. Weights of
  // what lies outside are 0.
#define BAND(d, dy, dx, count)                                                                   \
  if (((py + (dy)) & 1) == 0) {                                                                  \
    __global const Set* from =                                                                   \
        coarse + (long)clamp((py + (dy)) / 2, 0, coarse_height - 1) * coarse_width * SETS + set; \
    UNROLL                                                                                       \
    for (int j = -(REACH + 1) / 2; j <= (REACH + 1) / 2; ++j) {                                  \
      const int even = 2 * j - (dx);                                                             \
      const int odd = even - 1;                                                                  \
      if (even >= 0 && odd < (count)) {                                                          \
        const Set value = from[clamp(cx + j, 0, coarse_width - 1) * SETS];                       \
        if (even < (count)) sums[0] += left[(ulong)((d) + even) * pitch] * value;                \
        if (odd >= 0) sums[1] += right[(ulong)((d) + odd) * pitch] * value;                      \
      }                                                                                          \
    }                                                                                            \
  }
  BANDS
#undef BAND
  for (int i = 0; i < (two ? 2 : 1); ++i) {
    const float scale = gain[row + i];
    const ulong at = (row + i) * SETS + set;
    STORE_FINE(at, scale != 0.0f ? scale * sums[i] : (Set)(0.0f));
  }
#elif RUN == 1
  const uint item = get_global_id(0);
  const uint set = item % SETS;
  const ulong inside = item / SETS;
  if (inside >= (ulong)stride * segment_height) return;
  const ulong row = (ulong)active[get_global_id(1)] * segment_height * stride + inside;
  const ulong at = row * SETS + set;
  const int px = (int)(row % stride);
  const int py = (int)(row / stride);
  const float scale = gain[row];
  Set sum = (Set)(0.0f);
  if (scale != 0.0f)
    sum = scale * interpolated(MATRIX_ARGUMENTS, width, height, row, px, py, coarse, set, sets);
  STORE_FINE(at, sum);
#else
  const int runs = (stride + RUN - 1) / RUN;
  const int py = (int)(get_global_id(0) / runs);
  const int first = (int)(get_global_id(0) % runs) * RUN;
  const int end = min(first + RUN, stride);
  const uint set = get_global_id(1) * TAKEN;
  const ulong line = (ulong)py * stride;
  const long coarse_width = (width + 1) / 2;
  for (int begin = first; begin < end; begin += 2 * TILE) {
    if (begin >= REACH && begin + 2 * TILE + REACH <= width && begin + 2 * TILE <= end) {
      // Elements of one parity reach the same entries of the stencil.
      for (int odd = 0; odd < 2; ++odd) {
        const int px = begin + odd;
        const ulong row = line + px;
        Set sums[TILE * TAKEN];
        for (uint i = 0; i < TILE * TAKEN; ++i) sums[i] = (Set)(0.0f);
#ifdef BITS
        if (((px | py) & 1) == 0) {
          __global const Set* p = coarse + (py / 2 * coarse_width + px / 2) * SETS + set;
          for (uint i = 0; i < TILE; ++i) {
            for (uint s = 0; s < TAKEN; ++s)
              sums[i * TAKEN + s] = main_diagonal[row + 2 * i] * p[i * SETS + s];
          }
        }
#endif
#define BAND(d, dy, dx, count)                                                                    \
  if (py + (dy) >= 0 && py + (dy) < height && ((py + (dy)) & 1) == 0) {                           \
    const int from = (px + (dx)) & 1;                                                             \
    __global const WEIGHT_T* a = WEIGHTS(d, dy, dx) + from * WEIGHT_STEP(d);                      \
    __global const Set* p =                                                                       \
        coarse + ((py + (dy)) / 2 * coarse_width + (px + (dx) + from) / 2) * SETS + set;          \
    for (int k = from; k < (count); k += 2, a += 2 * WEIGHT_STEP(d), p += SETS) {                 \
      DECLARE_WEIGHTS(weights, PAIRS, a);                                                         \
      UNROLL                                                                                      \
      for (uint i = 0; i < TILE; ++i) {                                                           \
        UNROLL                                                                                    \
        for (uint s = 0; s < TAKEN; ++s) sums[i * TAKEN + s] += weights[2 * i] * p[i * SETS + s]; \
      }                                                                                           \
    }                                                                                             \
  }
        ALL_BANDS
#undef BAND
        for (uint i = 0; i < TILE; ++i) {
          const float scale = gain[row + 2 * i];
          for (uint s = 0; s < TAKEN; ++s) {
            const ulong at = (row + 2 * i) * SETS + set + s;
            STORE_FINE(at, sums[i * TAKEN + s] * scale);
          }
        }
      }
    } else {
      for (int px = begin; px < min(begin + 2 * TILE, end); ++px) {
        const float scale = gain[line + px];
        for (uint s = 0; s < TAKEN; ++s) {
          Set sum = (Set)(0.0f);
          if (scale != 0.0f)
            sum = scale * interpolated(MATRIX_ARGUMENTS, width, height, line + px, px, py, coarse,
                                       set + s, sets);
          const ulong at = (line + px) * SETS + set + s;
          STORE_FINE(at, sum);
        }
      }
    }
  }
#endif
}

// coarse = factor P' fine. Elements are those of the coarse grid.
__kernel void block_restrict(MATRIX, __global const float* restrict gain, const int width,
                             const int height, const int stride, __global const Set* restrict fine,
                             const float factor, __global Set* restrict coarse,
                             __global const int* restrict active, const int segment_height,
                             const uint sets) {
  const int coarse_width = (width + 1) / 2;
  const int coarse_height = (height + 1) / 2;
#if RUN == 1
  // A segment has an even number of image rows, or is all there is.
  const int segment_lines = (segment_height + 1) / 2;
  const uint item = get_global_id(0);
  const uint set = item % SETS;
  const uint element = item / SETS;
  const int cx = element % coarse_width;
  if (element / coarse_width >= segment_lines) return;
  const int cy = active[get_global_id(1)] * segment_lines + element / coarse_width;
#ifdef BITS
  const Set sum =
      restricted(MATRIX_ARGUMENTS, gain, width, height, stride, 2 * cx, 2 * cy, fine, set, sets);
#else
  __global const float* own = values + (ulong)(2 * cy) * stride + 2 * cx;
  Set sum = (Set)(0.0f);
  // As in block_product, all that a band needs is asked for before any of it is used.
#define BAND(d, dy, dx, count)                                                   \
  {                                                                              \
    const ulong line = (ulong)clamp(2 * cy + (dy), 0, height - 1) * stride;      \
    float weights[count];                                                        \
    float gains[count];                                                          \
    Set parts[count];                                                            \
    UNROLL                                                                       \
    for (int k = 0; k < (count); ++k) {                                          \
      const ulong at = line + clamp(2 * cx + (dx) + k, 0, width - 1);            \
      weights[k] = own[(ulong)((d) + k) * pitch];                                \
      gains[k] = gain[at];                                                       \
      parts[k] = fine[at * SETS + set];                                          \
    }                                                                            \
    UNROLL                                                                       \
    for (int k = 0; k < (count); ++k) sum += (weights[k] * gains[k]) * parts[k]; \
  }
  BANDS
#undef BAND
#endif
  coarse[((ulong)cy * coarse_width + cx) * SETS + set] = factor * sum;
#else
  const int runs = (coarse_width + RUN - 1) / RUN;
  const int cy = (int)(get_global_id(0) / runs);
  const int py = 2 * cy;
  const int first = (int)(get_global_id(0) % runs) * RUN;
  const int end = min(first + RUN, coarse_width);
  const uint set = get_global_id(1) * TAKEN;
  __global Set* out = coarse + (ulong)cy * coarse_width * SETS + set;
  for (int begin = first; begin < end; begin += TILE) {
    const int px = 2 * begin;
    const ulong row = (ulong)py * stride + px;
    if (px >= REACH && px + 2 * TILE + REACH <= width && begin + TILE <= end) {
      Set sums[TILE * TAKEN];
      for (uint i = 0; i < TILE * TAKEN; ++i) sums[i] = (Set)(0.0f);
#ifdef BITS
      for (uint i = 0; i < TILE; ++i) {
        const float weight = main_diagonal[row + 2 * i] * gain[row + 2 * i];
        for (uint s = 0; s < TAKEN; ++s)
          sums[i * TAKEN + s] = weight * fine[(row + 2 * i) * SETS + set + s];
      }
#endif
#define BAND(d, dy, dx, count)                                                                \
  if (py + (dy) >= 0 && py + (dy) < height) {                                                 \
    const ulong other = (ulong)(py + (dy)) * stride + px + (dx);                              \
    __global const WEIGHT_T* a = WEIGHTS(d, dy, dx);                                          \
    __global const float* g = gain + other;                                                   \
    __global const Set* p = fine + other * SETS + set;                                        \
    for (int k = 0; k < (count); ++k, a += WEIGHT_STEP(d), ++g, p += SETS) {                  \
      DECLARE_WEIGHTS(weights, PAIRS, a);                                                     \
      UNROLL                                                                                  \
      for (uint i = 0; i < TILE; ++i) {                                                       \
        const float weight = weights[2 * i] * g[2 * i];                                       \
        UNROLL                                                                                \
        for (uint s = 0; s < TAKEN; ++s) sums[i * TAKEN + s] += weight * p[2 * i * SETS + s]; \
      }                                                                                       \
    }                                                                                         \
  }
      ALL_BANDS
#undef BAND
      for (uint i = 0; i < TILE; ++i) {
        for (uint s = 0; s < TAKEN; ++s) out[(begin + i) * SETS + s] = factor * sums[i * TAKEN + s];
      }
    } else {
      for (int cx = begin; cx < min(begin + TILE, end); ++cx) {
        for (uint s = 0; s < TAKEN; ++s)
          out[(ulong)cx * SETS + s] = factor * restricted(MATRIX_ARGUMENTS, gain, width, height,
                                                          stride, 2 * cx, py, fine, set + s, sets);
      }
    }
  }
#endif
}
