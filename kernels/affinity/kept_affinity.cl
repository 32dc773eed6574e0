// kept_affinity: the affinities of each pixel to the kept pixels around it, those of even x and y,
// by the intervening contour (intervening_contour.cl says what that is, boundary_weight.clh how an
// affinity follows from it). Cell (cx, cy) has the pixels (2 cx + px, 2 cy + py), px and py 0 or 1,
// whose parity is px + 2 py. A plane has an element for each cell and a margin (PlaneGrid in
// lib/solver/matrix/interpolation.hpp): with pixels sorted by parity into planes, neighbouring
// cells are neighbours in memory.
//
// kept_split: work-item (x, y, p) writes element (x, y) of plane p: the boundary map at the pixel
// of parity p where it has data or is a wall, else, and in the margin, -1. Pixel (x, y) of boundary
// and valid is element y * width + x.
//
// kept_affinity: work-item (i, y, p) computes the elements (x, y) of WIDTH cells from x = i WIDTH
// on, for the pixels of parity p. W / sqrt(w) of neighbour k becomes weights[k * pitch + element]
// and 1 / sqrt(w) roots[p * pitch + element], where w is the sum of the affinities W of the pixel.
// Both are 0 in the margin, and without data. mask[pixel] becomes 1 where w is positive, else 0.
// Neighbours first[p] to first[p + 1] - 1 are those of parity p. The pixels on the line to
// neighbour k, it last, are steps[starts[k]] to steps[starts[k + 1] - 1] elements from the cell's
// element of the first plane. The pixel itself has no steps.
//
// A wall is a pixel whose boundary strength is above 1. It has no data.
#ifndef MARGIN_X
#error "affinity/kept_affinity.cl needs -DMARGIN_X, -DMARGIN_Y, -DWIDTH and -DLOGISTIC"
#endif

#include "common/floatw.clh"
#define FLOAT floatw
#include "affinity/boundary_weight.clh"

__kernel void kept_split(__global const float* restrict boundary,
                         __global const uchar* restrict valid, __global float* restrict planes,
                         const int width, const int height, const int plane_stride,
                         const int plane_rows, const ulong pitch) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int parity = (int)get_global_id(2);
  if (x >= plane_stride) return;
  const int column = 2 * (x - MARGIN_X) + (parity & 1);
  const int row = 2 * (y - MARGIN_Y) + (parity >> 1);
  float value = -1.0f;
  if (column >= 0 && column < width && row >= 0 && row < height) {
    const size_t pixel = (size_t)row * width + column;
    if (valid[pixel] != 0 || boundary[pixel] > 1.0f) value = boundary[pixel];
  }
  planes[parity * pitch + (size_t)y * plane_stride + x] = value;
}

__kernel void kept_affinity(__global const float* restrict planes, __global const int* first,
                            __global const int* starts, __global const long* steps,
                            __global float* restrict weights, const ulong first_weight,
                            __global float* restrict roots, const ulong first_root,
                            __global float* restrict mask, const int width, const int height,
                            const int plane_stride, const int plane_rows, const ulong pitch,
                            const float inverse_scale, const float bias, const float slope) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int y = (int)get_global_id(1);
  const int parity = (int)get_global_id(2);
  if (x >= plane_stride) return;
  const size_t element = (size_t)y * plane_stride + x;
  weights += first_weight + element;
  roots += first_root + parity * pitch + element;
  if (y < MARGIN_Y || y >= plane_rows - MARGIN_Y) {
    for (int k = first[parity]; k < first[parity + 1]; ++k) {
      STOREW((floatw)(0.0f), weights + k * pitch);
    }
    STOREW((floatw)(0.0f), roots);
    return;
  }
  __global const float* restrict from = planes + element;
  const floatw own = LOADW(from + parity * pitch);
  floatw sum = (floatw)(0.0f);
  for (int k = first[parity]; k < first[parity + 1]; ++k) {
    floatw end = own;
    floatw contour = own;
    for (int step = starts[k]; step < starts[k + 1]; ++step) {
      end = LOADW(from + steps[step]);
      contour = contour > end ? contour : end;
    }
    floatw affinity = (floatw)(1.0f);
    if (starts[k] < starts[k + 1]) affinity = weight(contour, inverse_scale, bias, slope);
    affinity = own < 0.0f || end < 0.0f || contour > 1.0f ? (floatw)(0.0f) : affinity;
    STOREW(affinity, weights + k * pitch);
    sum += affinity;
  }
  const floatw root = sum > 0.0f ? 1.0f / sqrt(sum) : (floatw)(0.0f);
  for (int k = first[parity]; k < first[parity + 1]; ++k) {
    STOREW(LOADW(weights + k * pitch) * root, weights + k * pitch);
  }
  STOREW(root, roots);
  lanesw lanes;
  lanes.all = root;
  const int column = 2 * (x - MARGIN_X) + (parity & 1);
  const int row = 2 * (y - MARGIN_Y) + (parity >> 1);
  for (int i = 0; i < WIDTH; ++i) {
    if (column + 2 * i >= 0 && column + 2 * i < width && row < height) {
      mask[(size_t)row * width + column + 2 * i] = lanes.lane[i] > 0.0f ? 1.0f : 0.0f;
    }
  }
}
