// transfer_pairs: the transfers of transfer.clh for pitched matrices on GPUs. A work-item of
// block_prolong computes two neighbouring fine elements, which share what the work-item reads; one
// of block_restrict computes one coarse element.
#include "eigen/multilevel/transfer.clh"

__kernel void block_prolong(PROLONG_PARAMETERS) {
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
  // columns that do not exist are 0.
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
}

__kernel void block_restrict(RESTRICT_PARAMETERS) {
  const int coarse_width = (width + 1) / 2;
  int cx;
  int cy;
  uint set;
  if (!coarse_element(coarse_width, active, segment_height, sets, &cx, &cy, &set)) return;
  __global const float* own = values + (ulong)(2 * cy) * stride + 2 * cx;
  Set sum = (Set)(0.0f);
  // The work-item asks for all that a band needs before it uses any of it, because a compiler does
  // not move reads over that many sums by itself.
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
  coarse[((ulong)cy * coarse_width + cx) * SETS + set] = factor * sum;
}
