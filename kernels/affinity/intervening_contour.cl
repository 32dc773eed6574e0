// intervening_contour: for pairs of pixels, the largest value of the boundary map on the straight
// line between the two pixels (Leung and Malik, Contour continuity in region based image
// segmentation, ECCV 1998).
//
// intervening_pad copies the boundary map into a plane with a border, so that intervening_contour
// needs no bound checks. Work-item (x, y) writes padded[y * padded_stride + x], which stands for
// pixel (x - RADIUS, y): the value of the boundary map where that pixel lies in the image and has
// data, or is a wall, else -1. Pixel (x, y) of boundary and valid is element y * width + x.
//
// intervening_contour: work-item (x, y) computes all lines from pixel (x, y) to pixels that come
// later in reading order. The maximum on the line of stencil entry k, both ends included, becomes
// values[k * pitch + y * width + x]; it is -1 where an end lies outside of the image or has no
// data, or where a wall is on the line. The middle entry of the stencil gets 0, or -1 where the
// pixel has no data. The border of `padded` is wide enough for all loads.
//
// A wall is a pixel whose boundary strength is above 1. It has no data.
//
// LINES: the lines, which the launcher writes as macro calls. Lines with the same first pixels
// share their maxima:
//   STEP(n, before, dx, dy)  defines m<n> as the larger of m<before> and the value at (dx, dy) from
//                            the pixel of the work-item; m0 is the value at that pixel itself
//   LINE(k, n, dx, dy)       the line of stencil entry k ends at (dx, dy); its maximum is m<n>
#ifndef RADIUS
#error "affinity/intervening_contour.cl needs -DRADIUS: the radius of the stencil in pixels"
#endif
#ifndef CENTRE
#error "affinity/intervening_contour.cl needs -DCENTRE: the index of the middle stencil entry"
#endif
#ifndef LINES
#error "affinity/intervening_contour.cl needs -DLINES: a sequence of STEP(...) and LINE(...)"
#endif

__kernel void intervening_pad(__global const float* restrict boundary,
                              __global const uchar* restrict valid, __global float* restrict padded,
                              const int width, const int height, const int padded_stride) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= padded_stride) return;
  float value = -1.0f;
  const int column = x - RADIUS;
  if (column >= 0 && column < width && y < height) {
    const size_t pixel = (size_t)y * width + column;
    if (valid[pixel] != 0 || boundary[pixel] > 1.0f) value = boundary[pixel];
  }
  padded[(size_t)y * padded_stride + x] = value;
}

#define VALUE(dx, dy) from[(dy) * (long)padded_stride + (dx)]
#define STEP(n, before, dx, dy) \
  const float m##n = m##before > VALUE(dx, dy) ? m##before : VALUE(dx, dy);
#define LINE(k, n, dx, dy) \
  to[(k)*pitch] = m0 < 0.0f || VALUE(dx, dy) < 0.0f || m##n > 1.0f ? -1.0f : m##n;

__kernel void intervening_contour(__global const float* restrict padded,
                                  __global float* restrict values, const int width,
                                  const int padded_stride, const ulong pitch) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  __global const float* restrict from = padded + ((size_t)y * padded_stride + x + RADIUS);
  __global float* restrict to = values + ((size_t)y * width + x);
  const float m0 = from[0];
  to[CENTRE * pitch] = m0 < 0.0f || m0 > 1.0f ? -1.0f : 0.0f;
  LINES
}
