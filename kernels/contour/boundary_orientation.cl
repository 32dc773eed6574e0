// boundary_orientation: the direction in which a boundary map, smoothed by a triangle filter of
// radius 4, curves most: the eigenvector of the Hessian for its eigenvalue of larger magnitude
// (Steger, An unbiased detector of curvilinear structures, PAMI 20, 1998). The filters are
// separable: orientation_rows filters along x, orientation_columns along y. Beyond its borders the
// map is mirrored, with each edge pixel twice.
//
// taps: 3 filters of TAPS weights, the triangle differentiated 0, 1 and 2 times; weight t
// multiplies the value t - REACH pixels ahead. Pixel (x, y) of boundary and orientation is element
// y * width + x. planes: the map filtered along x by each filter; pixel (x, y) for filter f is
// element (f * height + y) * plane_stride + x. plane_stride is a multiple of WIDTH; elements of a
// row beyond the width of the image are read, but only for results that are dropped.
//
// Work-item (x, y) of both kernels computes WIDTH pixels from (x WIDTH, y) on.
#ifndef REACH
#error "contour/boundary_orientation.cl needs -DREACH: pixels that the filters reach"
#endif

#include "common/floatw.clh"

#define TAPS (2 * REACH + 1)

static inline int mirrored(int i, int n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

__kernel void orientation_rows(__global const float* restrict boundary, __constant float* taps,
                               __global float* restrict planes, const int width, const int height,
                               const int plane_stride) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  __global const float* restrict row = boundary + (size_t)y * width;
  floatw sums[3];
  for (int f = 0; f < 3; ++f) sums[f] = (floatw)(0.0f);
  if (x >= REACH && x + WIDTH + REACH <= width) {
    for (int t = 0; t < TAPS; ++t) {
      const floatw value = LOADW(row + (x + t - REACH));
      for (int f = 0; f < 3; ++f) sums[f] += taps[f * TAPS + t] * value;
    }
  } else {
    for (int t = 0; t < TAPS; ++t) {
      lanesw value;
      for (int i = 0; i < WIDTH; ++i) value.lane[i] = row[mirrored(x + i + t - REACH, width)];
      for (int f = 0; f < 3; ++f) sums[f] += taps[f * TAPS + t] * value.all;
    }
  }
  for (int f = 0; f < 3; ++f) {
    STOREW(sums[f], planes + (((size_t)f * height + y) * plane_stride + x));
  }
}

__kernel void orientation_columns(__global const float* restrict planes, __constant float* taps,
                                  __global float* restrict orientation, const int width,
                                  const int height, const int plane_stride) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const size_t plane = (size_t)height * plane_stride;
  floatw xx = (floatw)(0.0f);
  floatw xy = (floatw)(0.0f);
  floatw yy = (floatw)(0.0f);
  for (int t = 0; t < TAPS; ++t) {
    __global const float* restrict from =
        planes + ((size_t)mirrored(y + t - REACH, height) * plane_stride + x);
    xx += taps[t] * LOADW(from + 2 * plane);
    xy += taps[TAPS + t] * LOADW(from + plane);
    yy += taps[2 * TAPS + t] * LOADW(from);
  }
  // The eigenvector of the larger eigenvalue, or, where the sum of the eigenvalues is negative, of
  // the smaller one: in both cases of the eigenvalue of larger magnitude.
  const floatw sign = xx + yy < 0.0f ? (floatw)(-1.0f) : (floatw)(1.0f);
  floatw angle = 0.5f * atan2(sign * 2.0f * xy, sign * (xx - yy));
  angle = angle < 0.0f ? angle + M_PI_F : angle;
  angle = angle < M_PI_F ? angle : (floatw)(0.0f);
  const size_t pixel = (size_t)y * width + x;
  if (x + WIDTH <= width) {
    STOREW(angle, orientation + pixel);
    return;
  }
  lanesw angles;
  angles.all = angle;
  for (int i = 0; x + i < width; ++i) orientation[pixel + i] = angles.lane[i];
}
