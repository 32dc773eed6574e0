// transfer_pairs: the transfers of transfer.clh on GPUs. A work-item of block_prolong computes two
// neighbouring fine elements, which share what the work-item reads; one of block_restrict computes
// one coarse element. Weights of columns that do not exist are 0, so any number may be read in
// their place.
//
// What band_parts.clh needs, whose parts block_restrict has.
#include "eigen/multilevel/transfer.clh"
#include "matrix/band_parts.clh"

__kernel void block_prolong(PROLONG_PARAMETERS) {
  const int coarse_width = (width + 1) / 2;
  const uint item = get_global_id(0);
  const uint set = item % SETS;
  const uint pair = item / SETS;
  const int cx = pair % coarse_width;
  const int line = pair / coarse_width;
  if (line >= segment_height) return;
  const int py = active[get_global_id(1)] * segment_height + line;
  const int px = 2 * cx;
  const ulong row = (ulong)py * width + px;
  const bool two = px + 1 < width;
  const int coarse_height = (height + 1) / 2;
  const int right = two ? 1 : 0;
  Set sums[2] = {(Set)(0.0f), (Set)(0.0f)};
#ifdef BITS
  if ((py & 1) == 0)
    sums[0] = main_diagonal[row] * coarse[((ulong)(py / 2) * coarse_width + cx) * SETS + set];
#endif
    // Pixel px reaches the coarse column cx + j by dx = 2 j, its neighbour by 2 j - 1.
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
        if (even < (count)) sums[0] += WEIGHT(WEIGHTS((d) + even, dy, (dx) + even)) * value;     \
        if (odd >= 0) sums[1] += WEIGHT(WEIGHTS((d) + odd, dy, (dx) + odd) + right) * value;     \
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
}

__kernel void block_restrict(RESTRICT_PARAMETERS) {
  const int coarse_width = (width + 1) / 2;
  int cx;
  int cy;
  uint set;
  const uint part = PART_OF_ITEM;
  const bool exists =
      coarse_element(SUM_OF_ITEM, coarse_width, active, segment_height, sets, &cx, &cy, &set);
  const int px = 2 * cx;
  const int py = 2 * cy;
  const ulong row = (ulong)py * width + px;
  Set sum = (Set)(0.0f);
#ifdef BITS
  if (exists && part == 0) sum = (main_diagonal[row] * gain[row]) * fine[row * SETS + set];
#endif
    // The work-item asks for all that a band needs before it uses any of it, because a compiler
    // does not move reads over that many sums by itself.
#define BAND(d, dy, dx, count)                                                   \
  if (IS_OF_PART(dy, part)) {                                                    \
    const ulong line = (ulong)clamp(py + (dy), 0, height - 1) * width;           \
    float weights[count];                                                        \
    float gains[count];                                                          \
    Set parts[count];                                                            \
    UNROLL                                                                       \
    for (int k = 0; k < (count); ++k) {                                          \
      const ulong at = line + clamp(px + (dx) + k, 0, width - 1);                \
      weights[k] = WEIGHT(WEIGHTS((d) + k, dy, (dx) + k));                       \
      gains[k] = gain[at];                                                       \
      parts[k] = fine[at * SETS + set];                                          \
    }                                                                            \
    UNROLL                                                                       \
    for (int k = 0; k < (count); ++k) sum += (weights[k] * gains[k]) * parts[k]; \
  }
  if (exists) {
    BANDS
  }
#undef BAND
  ADD_PARTS(sum, part);
  if (exists && part == 0) coarse[((ulong)cy * coarse_width + cx) * SETS + set] = factor * sum;
}
