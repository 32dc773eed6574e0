// transfer_runs: the transfers of transfer.clh on CPUs. A work-item computes RUN elements of one
// image row, of block_prolong the fine grid's and of block_restrict the coarse grid's, from
// RUN * (id % runs of a row) on, and TAKEN sets of each from TAKEN * its second id on, by
// neighbours that exist only.
//
// -DRUN; -DTAKEN, a divisor of SETS.
#if !defined(RUN) || !defined(TAKEN)
#error "transfer_runs needs RUN and TAKEN, beside what transfer.clh needs"
#endif
#include "eigen/multilevel/transfer.clh"
#include "matrix/band_table.clh"

// Row (px, py) of E times one set of the coarse block, without the gain.
static Set interpolated(MATRIX, const int width, const int height, const ulong row, const int px,
                        const int py, __global const Set* restrict coarse, const uint set,
                        const uint sets) {
  const long coarse_width = (width + 1) / 2;
  Set sum = (Set)(0.0f);
#ifdef BITS
  if (((px | py) & 1) == 0)
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

// Row (px, py), both even, of E' times one set of the fine block.
static Set restricted(MATRIX, __global const float* restrict gain, const int width,
                      const int height, const int px, const int py,
                      __global const Set* restrict fine, const uint set, const uint sets) {
  const ulong row = (ulong)py * width + px;
  Set sum = (Set)(0.0f);
#ifdef BITS
  sum = main_diagonal[row] * gain[row] * fine[row * SETS + set];
#endif
#define BAND(d, dy, dx, count)                                            \
  if (py + (dy) >= 0 && py + (dy) < height) {                             \
    const ulong line = (ulong)(py + (dy)) * width;                        \
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

__kernel void block_prolong(PROLONG_PARAMETERS) {
  const int runs = (width + RUN - 1) / RUN;
  const int py = (int)(get_global_id(0) / runs);
  const int first = (int)(get_global_id(0) % runs) * RUN;
  const uint set = get_global_id(1) * TAKEN;
  for (int px = first; px < min(first + RUN, width); ++px) {
    const ulong row = (ulong)py * width + px;
    const float scale = gain[row];
    for (uint s = 0; s < TAKEN; ++s) {
      Set sum = (Set)(0.0f);
      if (scale != 0.0f)
        sum = scale *
              interpolated(MATRIX_ARGUMENTS, width, height, row, px, py, coarse, set + s, sets);
      const ulong at = row * SETS + set + s;
      STORE_FINE(at, sum);
    }
  }
}

__kernel void block_restrict(RESTRICT_PARAMETERS) {
  const int coarse_width = (width + 1) / 2;
  const int runs = (coarse_width + RUN - 1) / RUN;
  const int cy = (int)(get_global_id(0) / runs);
  const int first = (int)(get_global_id(0) % runs) * RUN;
  const uint set = get_global_id(1) * TAKEN;
  for (int cx = first; cx < min(first + RUN, coarse_width); ++cx) {
    for (uint s = 0; s < TAKEN; ++s)
      coarse[((ulong)cy * coarse_width + cx) * SETS + set + s] =
          factor *
          restricted(MATRIX_ARGUMENTS, gain, width, height, 2 * cx, 2 * cy, fine, set + s, sets);
  }
}
