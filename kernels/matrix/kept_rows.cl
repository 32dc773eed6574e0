// kept_rows: products with R, the affinities between all pixels and the kept ones, those of every
// other row and column (KeptRows in lib/solver/matrix/kept_rows.hpp). The rows of R' lie in pitched
// DIA form: values[d * pitch + J] is the entry of kept pixel J = (X, Y), element Y * width + X of
// its grid, and pixel (2 X + dx, 2 Y + dy), with (dx, dy) the entry d of the stencil. An entry
// whose pixel leaves its image row is zero, and so is what it would multiply in the next one.
//
// WIDTH: see floatw.clh. EACH: vectors that a work-item interpolates.
#ifndef EACH
#error "matrix/kept_rows.cl needs -DWIDTH and -DEACH"
#endif

#include "common/floats16.clh"
#include "common/floatw.clh"

// Whether an image row of the kept grid has that column.
#define IN_ROW(x) ((x) >= 0 && (x) < width)

// kept_product: the matrix of the kept pixels, A_JK = sum over i of R_iJ R_iK. Work-item (i, t, y)
// computes WIDTH elements of row y of the kept grid on the diagonal diagonals[t] = (dx, dy, its
// number, the number of the opposite one), and stores them for both pixels of a pair. All diagonals
// of a row follow one another, so that a CPU's cache holds the entries that they share. pairs[k]:
// two diagonals of R', from J and from K, that lead to one pixel; those of diagonal t are
// pairs[starts[t]] to pairs[starts[t + 1] - 1]. What stands for no pair becomes 0.
__kernel void kept_product(__global const float* restrict values,
                           __global const int4* restrict diagonals,
                           __global const int2* restrict pairs, __global const int* restrict starts,
                           __global float* restrict coarse, const int width, const int height,
                           const ulong pitch, const ulong coarse_pitch) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int t = (int)get_global_id(1);
  const int y = (int)get_global_id(2);
  if (x >= width) return;
  const int4 to = diagonals[t];
  const long rows = (long)width * height;
  const long here = (long)y * width + x;
  const long there = here + (long)to.y * width + to.x;
  __global float* own = coarse + to.z * coarse_pitch;
  __global float* opposite = coarse + to.w * coarse_pitch;
  const bool below = y + to.y < height;
  const bool last = y == height - 1 && x + WIDTH >= width;
  lanesw sum;
  sum.all = (floatw)(0.0f);
  if (below && here + WIDTH <= rows && there >= 0 && there + WIDTH <= rows) {
    floatw all = (floatw)(0.0f);
    for (int k = starts[t]; k < starts[t + 1]; ++k) {
      all += GLOBAL_LOADW(values + pairs[k].x * pitch + here) *
             GLOBAL_LOADW(values + pairs[k].y * pitch + there);
    }
    if (y >= to.y && x >= abs(to.x) && x + (int)abs(to.x) + WIDTH <= width && !last) {
      GLOBAL_STOREW(all, own + here);
      GLOBAL_STOREW(all, opposite + there);
      return;
    }
    sum.all = all;
  } else if (below) {
    for (int i = 0; i < WIDTH; ++i) {
      if (!IN_ROW(x + i) || !IN_ROW(x + i + to.x)) continue;
      for (int k = starts[t]; k < starts[t + 1]; ++k) {
        sum.lane[i] +=
            values[pairs[k].x * pitch + here + i] * values[pairs[k].y * pitch + there + i];
      }
    }
  }
  for (int i = 0; i < WIDTH && IN_ROW(x + i); ++i) {
    const bool pair = below && IN_ROW(x + i + to.x);
    own[here + i] = pair ? sum.lane[i] : 0.0f;
    if (pair) opposite[there + i] = sum.lane[i];
    if (y < to.y || !IN_ROW(x + i - to.x)) opposite[here + i] = 0.0f;
  }
  for (ulong i = rows; last && i < coarse_pitch; ++i) own[i] = opposite[i] = 0.0f;
}

// kept_interpolate: fine = R coarse for vectors 1 to count - 1, of one image, whose kept pixels are
// elements from `image` on of the grid of R'. Work-item (i, g, y) computes row y of the image at
// the columns from 2 i WIDTH on, two for each of WIDTH kept pixels, of EACH vectors. All vectors of
// a row follow one another, so that a CPU's cache holds its entries. neighbours[e] = (dx, dy, entry
// of the stencil, 0) of the kept pixels around a pixel of parity q, e from first[q] to first[q + 1]
// - 1.
__kernel void kept_interpolate(__global const float* restrict values, const ulong pitch,
                               const ulong image, __global const int4* restrict neighbours,
                               __global const int* restrict first, const int count,
                               __global const float* restrict coarse, const ulong coarse_pitch,
                               __global float* restrict fine, const ulong fine_pitch,
                               const int width, const int kept_width, const int kept_height) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int group = (int)get_global_id(1);
  const int row = (int)get_global_id(2);
  const int y = row / 2;
  if (x >= kept_width) return;
  const long rows = (long)kept_width * kept_height;
  // The last group may compute its last vector several times.
  ulong vectors[EACH];
  for (int k = 0; k < EACH; ++k) vectors[k] = min(1 + group * EACH + k, count - 1);
  floatw sums[2][EACH];
#pragma unroll
  for (int px = 0; px < 2; ++px) {
    floatw own[EACH];
    for (int k = 0; k < EACH; ++k) own[k] = (floatw)(0.0f);
    const int parity = px + 2 * (row & 1);
    for (int e = first[parity]; e < first[parity + 1]; ++e) {
      const int4 to = neighbours[e];
      if (y + to.y < 0 || y + to.y >= kept_height) continue;
      const long from = (long)(y + to.y) * kept_width + x + to.x;
      __global const float* w = values + (to.z * pitch + image);
      if (from >= 0 && from + WIDTH <= rows) {
        const floatw weights = GLOBAL_LOADW(w + from);
        for (int k = 0; k < EACH; ++k)
          own[k] += weights * GLOBAL_LOADW(coarse + vectors[k] * coarse_pitch + from);
        continue;
      }
      lanesw weights, lanes;
      weights.all = (floatw)(0.0f);
      lanes.all = (floatw)(0.0f);
      for (int k = 0; k < EACH; ++k) {
        for (int i = 0; i < WIDTH; ++i) {
          if (x + i + to.x < 0 || x + i + to.x >= kept_width) continue;
          weights.lane[i] = w[from + i];
          lanes.lane[i] = coarse[vectors[k] * coarse_pitch + from + i];
        }
        own[k] += weights.all * lanes.all;
      }
    }
    for (int k = 0; k < EACH; ++k) sums[px][k] = own[k];
  }
  for (int k = 0; k < EACH; ++k) {
    __global float* out = fine + vectors[k] * fine_pitch + (ulong)row * width + 2 * x;
#if WIDTH == 8
    if (2 * (x + WIDTH) <= width) {
      GLOBAL_FLOATS16(out) = WOVEN(sums[0][k], sums[1][k]);
      continue;
    }
#endif
    lanesw lanes[2];
    lanes[0].all = sums[0][k];
    lanes[1].all = sums[1][k];
    for (int i = 0; i < 2 * WIDTH && 2 * x + i < width; ++i) out[i] = lanes[i & 1].lane[i / 2];
  }
}
