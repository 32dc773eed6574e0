// spectral_contour: the spectral contour, which is at each pixel the largest over eight directions
// of the sum of the magnitudes of derivatives of Gaussian of the eigenvectors (Arbelaez, Maire,
// Fowlkes and Malik, Contour detection and hierarchical image segmentation, 2011, eq. 13), combined
// with the boundary map (eq. 14). The derivative of an isotropic Gaussian is steerable (Freeman and
// Adelson, The design and use of steerable filters, 1991): the derivative in every direction
// follows from dx and dy.
//
// Pixel (x, y) of sqrt_degree, boundary and contour is element y * width + x. Eigenvector k of the
// normalized affinity, z, is elements first + k * pitch on of basis, in the same order. sqrt_degree
// is 0 where there is no data. The generalized eigenvector is y = z / sqrt_degree. It is scaled to
// [0, 1] over the pixels with data and multiplied by its weight; pixels without data count as 0.
// Two kernels prepare that:
//
// spectral_scale: work-group k finds the least and the largest element of y for eigenvector k. It
// writes to scales[2k] the least one, which is subtracted, and to scales[2k + 1] the factor, which
// is 0 for a vector that is flat up to rounding.
//
// spectral_pad: work-item (x, y, k) writes WIDTH scaled elements from x WIDTH on of row y of plane
// k. A plane has a border of 3 pixels, mirrored with each edge pixel twice: pixel (x, y) is element
// (y + 3) * padded_stride + x + 3. A row is long enough for WIDTH pixels and their neighbours from
// any multiple of WIDTH in the image on.
//
// spectral_contour: work-item (x, y) computes WIDTH pixels from (x WIDTH, y) on.
//
// GROUP: work-items of a group of spectral_scale, a power of two. WIDTH: see floatw.clh.
#ifndef GROUP
#error "contour/spectral_contour.cl needs -DGROUP: the work-items of a group"
#endif

#include "common/floatw.clh"

#define BORDER 3

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spectral_scale(
    __global const float* restrict basis, const ulong first, const ulong pitch,
    __global const float* restrict sqrt_degree, const ulong elements,
    __global const float* restrict weights, __global float* restrict scales) {
  __local float lows[GROUP];
  __local float highs[GROUP];
  const uint lid = get_local_id(0);
  const ulong k = get_group_id(0);
  __global const float* restrict z = basis + (first + k * pitch);
  ulong at = lid * WIDTH;
  float low = INFINITY;
  float high = -INFINITY;
  floatw lowest = (floatw)(INFINITY);
  floatw highest = (floatw)(-INFINITY);
  for (; at + WIDTH <= elements; at += GROUP * WIDTH) {
    const floatw degree = GLOBAL_LOADW(sqrt_degree + at);
    const floatw y = GLOBAL_LOADW(z + at) / degree;
    // Lanes without data divide by 0; what comes of that is not taken.
    lowest = degree > 0.0f && y < lowest ? y : lowest;
    highest = degree > 0.0f && y > highest ? y : highest;
  }
  for (; at < elements; ++at) {
    const float degree = sqrt_degree[at];
    const float y = z[at] / degree;
    low = degree > 0.0f && y < low ? y : low;
    high = degree > 0.0f && y > high ? y : high;
  }
  lanesw low_lanes, high_lanes;
  low_lanes.all = lowest;
  high_lanes.all = highest;
  for (int i = 0; i < WIDTH; ++i) {
    low = low_lanes.lane[i] < low ? low_lanes.lane[i] : low;
    high = high_lanes.lane[i] > high ? high_lanes.lane[i] : high;
  }
  lows[lid] = low;
  highs[lid] = high;
  for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < half_size) {
      lows[lid] = lows[lid + half_size] < lows[lid] ? lows[lid + half_size] : lows[lid];
      highs[lid] = highs[lid + half_size] > highs[lid] ? highs[lid + half_size] : highs[lid];
    }
  }
  if (lid == 0) {
    // Division in OpenCL may be off by 2.5 units in the last place.
    const float rounding = 8.0f * FLT_EPSILON * fmax(fabs(lows[0]), fabs(highs[0]));
    const float range = highs[0] - lows[0];
    scales[2 * k] = lows[0];
    scales[2 * k + 1] = range > rounding ? weights[k] / range : 0.0f;
  }
}

static inline int mirrored(int i, int n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

__kernel void spectral_pad(__global const float* restrict basis, const ulong first,
                           const ulong pitch, __global const float* restrict sqrt_degree,
                           __global const float* restrict scales, __global float* restrict planes,
                           const int width, const int height, const int padded_stride) {
  const int left = (int)get_global_id(0) * WIDTH;
  const int row = (int)get_global_id(1);
  const ulong k = get_global_id(2);
  if (left >= padded_stride) return;
  const size_t from = (size_t)mirrored(row - BORDER, height) * width;
  __global const float* restrict z = basis + (first + k * pitch + from);
  __global const float* restrict degrees = sqrt_degree + from;
  __global float* restrict to =
      planes + (((size_t)k * (height + 2 * BORDER) + row) * padded_stride + left);
  const float low = scales[2 * k];
  const float scale = scales[2 * k + 1];
  const int x = left - BORDER;
  if (x >= 0 && x + WIDTH <= width) {
    const floatw degree = GLOBAL_LOADW(degrees + x);
    const floatw y = (GLOBAL_LOADW(z + x) / degree - low) * scale;
    GLOBAL_STOREW(degree > 0.0f ? y : (floatw)(0.0f), to);
    return;
  }
  for (int lane = 0; lane < WIDTH; ++lane) {
    const int column = mirrored(x + lane, width);
    const float degree = degrees[column];
    to[lane] = degree > 0.0f ? (z[column] / degree - low) * scale : 0.0f;
  }
}

// taps: the Gaussian 0, 1, 2 and 3 pixels from its middle. Differences are taken before they are
// weighted, so that the derivative of a flat vector is exactly 0.
#define ROW_DERIVATIVE(p)                                         \
  (taps.s1 * (GLOBAL_LOADW(p + 4) - GLOBAL_LOADW(p + 2)) +        \
   2.0f * taps.s2 * (GLOBAL_LOADW(p + 5) - GLOBAL_LOADW(p + 1)) + \
   3.0f * taps.s3 * (GLOBAL_LOADW(p + 6) - GLOBAL_LOADW(p)))
#define ROW_SMOOTH(p)                                                                      \
  (taps.s0 * GLOBAL_LOADW(p + 3) + taps.s1 * (GLOBAL_LOADW(p + 4) + GLOBAL_LOADW(p + 2)) + \
   taps.s2 * (GLOBAL_LOADW(p + 5) + GLOBAL_LOADW(p + 1)) +                                 \
   taps.s3 * (GLOBAL_LOADW(p + 6) + GLOBAL_LOADW(p)))

__kernel void spectral_contour(__global const float* restrict planes, const int vectors,
                               __global const float* restrict sqrt_degree,
                               __global const float* restrict boundary,
                               __global float* restrict contour, const int width, const int height,
                               const int padded_stride, const float4 taps,
                               const float boundary_weight, const float spectral_weight,
                               const float inverse_scale, const float power) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  // c and s are the cosine and the sine of pi / 8; r is the cosine of pi / 4.
  const float c = 0.92387953251128675613f;
  const float s = 0.38268343236508977173f;
  const float r = 0.70710678118654752440f;
  floatw sums[8];
  for (int o = 0; o < 8; ++o) sums[o] = (floatw)(0.0f);
  const size_t plane = (size_t)(height + 2 * BORDER) * padded_stride;
  __global const float* restrict from = planes + ((size_t)y * padded_stride + x);
  for (int k = 0; k < vectors; ++k, from += plane) {
    __global const float* restrict middle = from + (size_t)BORDER * padded_stride;
    floatw dx = taps.s0 * ROW_DERIVATIVE(middle);
    floatw dy = (floatw)(0.0f);
#define ROWS(t, gauss)                                                         \
  {                                                                            \
    __global const float* restrict above = middle - (size_t)(t)*padded_stride; \
    __global const float* restrict below = middle + (size_t)(t)*padded_stride; \
    dx += (gauss) * (ROW_DERIVATIVE(above) + ROW_DERIVATIVE(below));           \
    dy += (t) * (gauss) * (ROW_SMOOTH(below) - ROW_SMOOTH(above));             \
  }
    ROWS(1, taps.s1)
    ROWS(2, taps.s2)
    ROWS(3, taps.s3)
    sums[0] += fabs(dx);
    sums[1] += fabs(c * dx + s * dy);
    sums[2] += fabs(r * (dx + dy));
    sums[3] += fabs(s * dx + c * dy);
    sums[4] += fabs(dy);
    sums[5] += fabs(s * dx - c * dy);
    sums[6] += fabs(r * (dx - dy));
    sums[7] += fabs(c * dx - s * dy);
  }
  floatw spectral = sums[0];
  for (int o = 1; o < 8; ++o) spectral = sums[o] > spectral ? sums[o] : spectral;
  const floatw shape = spectral_weight * powr(fmin(spectral * inverse_scale, 1.0f), power);
  const size_t pixel = (size_t)y * width + x;
  if (x + WIDTH <= width) {
    const floatw inside = GLOBAL_LOADW(sqrt_degree + pixel) > 0.0f ? shape : (floatw)(0.0f);
    GLOBAL_STOREW(fmin(boundary_weight * GLOBAL_LOADW(boundary + pixel) + inside, 1.0f),
                  contour + pixel);
    return;
  }
  lanesw shapes;
  shapes.all = shape;
  for (int i = 0; x + i < width; ++i) {
    const float inside = sqrt_degree[pixel + i] > 0.0f ? shapes.lane[i] : 0.0f;
    contour[pixel + i] = fmin(boundary_weight * boundary[pixel + i] + inside, 1.0f);
  }
}
