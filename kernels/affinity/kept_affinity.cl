// kept_affinity: the affinities of each pixel to the kept pixels around it, those of even x and y,
// by the intervening contour (intervening_contour.cl says what that is, boundary_weight.clh how an
// affinity follows from it). Cell (cx, cy) has the pixels (2 cx + px, 2 cy + py), px and py 0 or 1,
// whose parity is px + 2 py. A plane has an element for each cell and a margin (PlaneGrid in
// lib/matrix/interpolation.hpp): with pixels sorted by parity into planes, neighbouring cells are
// neighbours in memory.
//
// kept_split: work-item (x, y, p) writes element (x, y) of plane p: the boundary map at the pixel
// of parity p where it has data or is a wall, else, and in the margin, -1. Pixel (x, y) of boundary
// and valid is element y * stride + x.
//
// kept_affinity: work-item (i, y) computes the elements (x, y) of WIDTH cells from x = i WIDTH on,
// of all planes. W / sqrt(w) of neighbour k becomes weights[k * pitch + element] and 1 / sqrt(w)
// roots[p * pitch + element], where w is the sum of the affinities W of the pixel of parity p. Both
// are 0 in the margin, and without data. mask[pixel] becomes 1 where w is positive, else 0.
//
// A wall is a pixel whose boundary strength is above 1. It has no data.
//
// PIXELS: PARITY(p, lines) for each parity. The lines of each, to the kept pixels, are
//   STEP(n, before, q, dx, dy)  defines m<n> as the larger of m<before> and the value of the pixel
//                               of parity q, dx and dy cells away; m0 is the value of the pixel
//   LINE(k, n, dx, dy)          the line to the kept pixel of neighbour k, dx and dy cells away,
//                               has the maximum m<n>
//   SELF(k)                     neighbour k is the pixel itself
#ifndef PIXELS
#error "affinity/kept_affinity.cl needs -DPIXELS, -DMARGIN_X, -DMARGIN_Y and -DMOST"
#endif

#include "common/floatw.clh"
#define FLOAT floatw
#include "affinity/boundary_weight.clh"

__kernel void kept_split(__global const float* restrict boundary,
                         __global const uchar* restrict valid, __global float* restrict planes,
                         const int width, const int height, const int stride,
                         const int plane_stride, const int plane_rows, const ulong pitch) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int parity = (int)get_global_id(2);
  if (x >= plane_stride) return;
  const int column = 2 * (x - MARGIN_X) + (parity & 1);
  const int row = 2 * (y - MARGIN_Y) + (parity >> 1);
  float value = -1.0f;
  if (column >= 0 && column < width && row >= 0 && row < height) {
    const size_t pixel = (size_t)row * stride + column;
    if (valid[pixel] != 0 || boundary[pixel] > 1.0f) value = boundary[pixel];
  }
  planes[parity * pitch + (size_t)y * plane_stride + x] = value;
}

#define VALUE(q, dx, dy) LOADW(from + ((long)(q) * (long)pitch + (dy) * (long)plane_stride + (dx)))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define STEP(n, before, q, dx, dy) const floatw m##n = LARGER(m##before, VALUE(q, dx, dy));
// Contours first, so that the weight is compiled once: -1 stands for no affinity.
#define LINE(k, n, dx, dy)                                                  \
  {                                                                         \
    const floatw end = VALUE(0, dx, dy);                                    \
    found[count++] = m0 < 0.0f || end < 0.0f || m##n > 1.0f ? -1.0f : m##n; \
  }
#define SELF(k) self = count++;
#define PARITY(p, lines)                                                                         \
  {                                                                                              \
    const floatw m0 = VALUE(p, 0, 0);                                                            \
    floatw found[MOST];                                                                          \
    int count = 0;                                                                               \
    int self = -1;                                                                               \
    lines;                                                                                       \
    to = store_parity(p, found, count, self, m0, to, pitch, roots + (p)*pitch + element, mask,   \
                      2 * (x - MARGIN_X) + (p) % 2, 2 * (y - MARGIN_Y) + (p) / 2, width, height, \
                      stride, inverse_scale, bias, slope);                                       \
  }

// The weights of a parity's pixels from the contours on their lines; returns where the next ones
// go.
static __global float* store_parity(const int parity, floatw* found, const int count,
                                    const int self, const floatw own, __global float* to,
                                    const ulong pitch, __global float* root_to,
                                    __global float* mask, const int column, const int row,
                                    const int width, const int height, const int stride,
                                    const float inverse_scale, const float bias,
                                    const float slope) {
  floatw sum = (floatw)(0.0f);
  for (int k = 0; k < count; ++k) {
    if (k == self) {
      found[k] = own < 0.0f || own > 1.0f ? (floatw)(0.0f) : (floatw)(1.0f);
    } else {
      const floatw w = weight(found[k], inverse_scale, bias, slope);
      found[k] = found[k] < 0.0f ? (floatw)(0.0f) : w;
    }
    sum += found[k];
  }
  const floatw root = sum > 0.0f ? 1.0f / sqrt(sum) : (floatw)(0.0f);
  for (int k = 0; k < count; ++k, to += pitch) STOREW(found[k] * root, to);
  STOREW(root, root_to);
  lanesw lanes;
  lanes.all = root;
  for (int i = 0; i < WIDTH; ++i) {
    if (column + 2 * i >= 0 && column + 2 * i < width && row < height) {
      mask[(size_t)row * stride + column + 2 * i] = lanes.lane[i] > 0.0f ? 1.0f : 0.0f;
    }
  }
  return to;
}

__kernel void kept_affinity(__global const float* restrict planes, __global float* restrict weights,
                            const ulong first_weight, __global float* restrict roots,
                            const ulong first_root, __global float* restrict mask, const int width,
                            const int height, const int stride, const int plane_stride,
                            const int plane_rows, const ulong pitch, const int neighbours,
                            const float inverse_scale, const float bias, const float slope) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int y = (int)get_global_id(1);
  if (x >= plane_stride) return;
  weights += first_weight;
  roots += first_root;
  const size_t element = (size_t)y * plane_stride + x;
  __global float* to = weights + element;
  if (y < MARGIN_Y || y >= plane_rows - MARGIN_Y) {
    for (int k = 0; k < neighbours; ++k, to += pitch) STOREW((floatw)(0.0f), to);
    for (int p = 0; p < 4; ++p) STOREW((floatw)(0.0f), roots + p * pitch + element);
    return;
  }
  __global const float* restrict from = planes + element;
  PIXELS
}
