// kept_affinity: normalizes affinities W between all pixels and the kept ones, those of every other
// row and column, to R = T^-1 W S^-1. S holds the square roots of the sums over the pixels around
// each kept pixel, and T those of the sums over the kept pixels around each pixel.
//
// `values` has the entries of kept pixel (X, Y), element Y * kept_width + X, as KeptRows
// (lib/solver/matrix/kept_rows.hpp) has those of R. An entry whose pixel leaves its image row is
// zero, and so is what lies from the last kept pixel to the pitch. Pixels are sorted by their
// parity (x mod 2) + 2 (y mod 2) into planes of the kept grid: 1 / T of pixel (2 X + px, 2 Y + py)
// is element before + Y * kept_width + X of plane px + 2 py. Around its elements a plane is 0, as
// far as entries reach.
//
// WIDTH: see floatw.clh.
#include "common/floatw.clh"

// kept_degrees: work-item (i, y, p) writes T, as sqrt_degree[y * width + x], and its inverse for
// the pixels of parity p of the WIDTH kept pixels (x, y) from x = i WIDTH on. neighbours[e] = (dx,
// dy, entry of the stencil, 0), e from first[p] to first[p + 1] - 1: the kept pixels around such a
// pixel.
__kernel void kept_degrees(__global const float* restrict values, const ulong pitch,
                           __global const int4* restrict neighbours,
                           __global const int* restrict first, __global float* restrict sqrt_degree,
                           __global float* restrict inverse, const ulong plane, const ulong before,
                           const int width, const int height, const int kept_width,
                           const int kept_height) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int y = (int)get_global_id(1);
  const int parity = (int)get_global_id(2);
  const int row = 2 * y + (parity >> 1);
  if (x >= kept_width || row >= height) return;
  const long rows = (long)kept_width * kept_height;
  floatw sum = (floatw)(0.0f);
  for (int e = first[parity]; e < first[parity + 1]; ++e) {
    const int4 to = neighbours[e];
    if (y + to.y < 0 || y + to.y >= kept_height) continue;
    const long from = (long)(y + to.y) * kept_width + x + to.x;
    __global const float* entries = values + to.z * pitch;
    if (from >= 0 && from + WIDTH <= rows) {
      sum += GLOBAL_LOADW(entries + from);
      continue;
    }
    lanesw lanes;
    for (int i = 0; i < WIDTH; ++i) {
      const bool exists = x + i + to.x >= 0 && x + i + to.x < kept_width;
      lanes.lane[i] = exists ? entries[from + i] : 0.0f;
    }
    sum += lanes.all;
  }
  lanesw root, inverses;
  root.all = sqrt(sum);
  inverses.all = sum > 0.0f ? 1.0f / root.all : (floatw)(0.0f);
  inverse += parity * plane + before + (ulong)y * kept_width + x;
  for (int i = 0; i < WIDTH && x + i < kept_width; ++i) {
    const int column = 2 * (x + i) + (parity & 1);
    if (column >= width) break;
    inverse[i] = inverses.lane[i];
    sqrt_degree[(ulong)row * width + column] = root.lane[i];
  }
}

// kept_normalize: work-item (i, d) multiplies entry d of WIDTH kept pixels from i WIDTH on by both
// inverses, and sets what lies behind the last of the `rows` kept pixels to 0. places[d]: where in
// `inverse` the pixel lies to which entry d of the first kept pixel leads.
__kernel void kept_normalize(__global float* restrict values, const ulong pitch,
                             __global const long* restrict places,
                             __global const float* restrict inverse,
                             __global const float* restrict kept_inverse, const ulong rows) {
  const ulong at = get_global_id(0) * WIDTH;
  const ulong d = get_global_id(1);
  if (at >= pitch) return;
  __global float* own = values + d * pitch + at;
  __global const float* other = inverse + places[d] + at;
  if (at + WIDTH <= rows) {
    GLOBAL_STOREW(GLOBAL_LOADW(own) * GLOBAL_LOADW(kept_inverse + at) * GLOBAL_LOADW(other), own);
    return;
  }
  for (ulong i = 0; i < WIDTH; ++i)
    own[i] = at + i < rows ? own[i] * kept_inverse[at + i] * other[i] : 0.0f;
}
