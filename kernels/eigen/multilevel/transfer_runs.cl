// transfer_runs: the transfers of transfer.clh on CPUs. A work-item computes RUN elements of one
// image row, of block_prolong the fine grid's and of block_restrict the coarse grid's, from
// RUN * (id % runs of a row) on, TILE at a time, and TAKEN sets of each from TAKEN * its second id
// on. Fine elements are taken by parity, because elements of one parity reach the same entries of
// the stencil.
//
// -DRUN, a multiple of 2 * -DTILE; -DTILE, 4 or 8; -DTAKEN, a divisor of SETS.
#if !defined(RUN) || !defined(TILE) || !defined(TAKEN)
#error "transfer_runs needs RUN, TILE and TAKEN, beside what transfer.clh needs"
#endif
#include "eigen/multilevel/transfer_element.clh"

// 2 * TILE, as the name of a vector type can hold it.
#if TILE == 4
#define PAIRS 8
#elif TILE == 8
#define PAIRS 16
#else
#error "transfer_runs: TILE must be 4 or 8"
#endif

__kernel void block_prolong(PROLONG_PARAMETERS) {
  const int runs = (stride + RUN - 1) / RUN;
  const int py = (int)(get_global_id(0) / runs);
  const int first = (int)(get_global_id(0) % runs) * RUN;
  const int end = min(first + RUN, stride);
  const uint set = get_global_id(1) * TAKEN;
  const ulong line = (ulong)py * stride;
  const long coarse_width = (width + 1) / 2;
  for (int begin = first; begin < end; begin += 2 * TILE) {
    if (begin >= REACH && begin + 2 * TILE + REACH <= width && begin + 2 * TILE <= end) {
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
}

__kernel void block_restrict(RESTRICT_PARAMETERS) {
  const int coarse_width = (width + 1) / 2;
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
}
