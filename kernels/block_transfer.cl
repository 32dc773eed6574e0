// block_transfer: blocks of vectors (block.clh) between an image's grid and that of every other row
// and column, by the interpolation P_iJ = gain_i A_iJ of coarsen.cl and by its transpose. A is in
// pitched DIA form on the fine grid of `width` x `height` pixels, `stride` elements apart; the
// coarse grid's stride is its width.
//
// A work-item computes one element and one of its sets: id / SETS and id % SETS.
//
// -DBANDS=BAND(first diagonal, dy, first dx, number of diagonals)... of the disc.
#if !defined(BANDS)
#error "block_transfer needs BANDS, beside what block.clh needs"
#endif
#include "block.clh"

// fine = P coarse, or fine += P coarse with add 1.
__kernel void block_prolong(__global const float* restrict values, const ulong pitch,
                            __global const float* restrict gain, const int width, const int height,
                            const int stride, __global const Set* restrict coarse, const int add,
                            __global Set* restrict fine) {
  const ulong at = get_global_id(0);
  const ulong row = at / SETS;
  const uint set = (uint)(at % SETS);
  if (row >= (ulong)stride * height) return;
  const int px = (int)(row % stride);
  const int py = (int)(row / stride);
  const long coarse_width = (width + 1) / 2;
  const float scale = gain[row];
  Set sum = (Set)(0.0f);
#define BAND(d, dy, dx, count)                                                        \
  if (py + (dy) >= 0 && py + (dy) < height && ((py + (dy)) & 1) == 0) {               \
    __global const Set* line = coarse + (py + (dy)) / 2 * coarse_width * SETS + set;  \
    for (int k = (px + (dx)) & 1; k < (count); k += 2) {                              \
      const int nx = px + (dx) + k;                                                   \
      if (nx >= 0 && nx < width)                                                      \
        sum += values[(ulong)((d) + k) * pitch + row] * line[(long)(nx / 2) * SETS];  \
    }                                                                                 \
  }
  if (scale != 0.0f) {
    BANDS
  }
#undef BAND
  sum *= scale;
  fine[at] = add ? fine[at] + sum : sum;
}

// coarse = factor P' fine. Items are numbered on the coarse grid.
__kernel void block_restrict(__global const float* restrict values, const ulong pitch,
                             __global const float* restrict gain, const int width,
                             const int height, const int stride, __global const Set* restrict fine,
                             const float factor, __global Set* restrict coarse) {
  const int coarse_width = (width + 1) / 2;
  const int coarse_height = (height + 1) / 2;
  const ulong at = get_global_id(0);
  const ulong row = at / SETS;
  const uint set = (uint)(at % SETS);
  if (row >= (ulong)coarse_width * coarse_height) return;
  const int px = 2 * (int)(row % coarse_width);
  const int py = 2 * (int)(row / coarse_width);
  const ulong own = (ulong)py * stride + px;
  Set sum = (Set)(0.0f);
#define BAND(d, dy, dx, count)                                                                \
  if (py + (dy) >= 0 && py + (dy) < height) {                                                 \
    const ulong line = (ulong)(py + (dy)) * stride;                                           \
    for (int k = 0; k < (count); ++k) {                                                       \
      const int nx = px + (dx) + k;                                                           \
      if (nx >= 0 && nx < width)                                                              \
        sum += (values[(ulong)((d) + k) * pitch + own] * gain[line + nx]) *                   \
               fine[(line + nx) * SETS + set];                                                \
    }                                                                                         \
  }
  BANDS
#undef BAND
  coarse[at] = factor * sum;
}
