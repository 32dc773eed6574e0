// intervening_contour: for pairs of pixels, the largest value of the boundary map on the straight
// line between the two pixels (Leung and Malik, Contour continuity in region based image
// segmentation, ECCV 1998).
//
// Lines begin at all pixels, with STEP 1, or at the kept ones, those of every other row and column,
// with STEP 2. Pixels are sorted into STEP * STEP planes, by x and y modulo STEP, so that what
// neighbouring work-items read are neighbouring words.
//
// intervening_pad copies the boundary map into planes with a border, so that intervening_contour
// needs no bound checks. Work-item (x, y, p) writes padded[p * plane + y * padded_stride + x],
// which stands for pixel (STEP (x - RADIUS) + p % STEP, STEP (y - ABOVE) + p / STEP): the value of
// the boundary map where that pixel lies in the image and has data, or is a wall, else -1. Pixel
// (x, y) of boundary and valid is element y * width + x.
//
// intervening_contour: work-item (x, y) computes lines from pixel (STEP x, STEP y): to the pixels
// that come later in reading order or, with STEP 2, to all of the stencil. The maximum on the line
// of stencil entry k, both ends included, becomes values[k * pitch + y * width + x], `width` being
// that of the grid of first pixels; it is -1 where an end lies outside of the image or has no data,
// or where a wall is on the line. The middle entry of the stencil gets 0, or -1 where the pixel has
// no data. The border of `padded` is wide enough for all loads.
//
// A wall is a pixel whose boundary strength is above 1. It has no data.
//
// LINES: the lines, which the launcher writes as macro calls. Lines with the same first pixels
// share their maxima:
//   POINT(n, before, dx, dy) defines m<n> as the larger of m<before> and the value at (dx, dy) from
//                            the pixel of the work-item; m0 is the value at that pixel itself
//   LINE(k, n, dx, dy)       the line of stencil entry k ends at (dx, dy); its maximum is m<n>
#ifndef RADIUS
#error "affinity/intervening_contour.cl needs -DRADIUS: the radius of the stencil in pixels"
#endif
#ifndef CENTRE
#error "affinity/intervening_contour.cl needs -DCENTRE: the index of the middle stencil entry"
#endif
#if STEP != 1 && STEP != 2
#error "affinity/intervening_contour.cl needs -DSTEP, 1 or 2"
#endif
#ifndef LINES
#error "affinity/intervening_contour.cl needs -DLINES: a sequence of POINT(...) and LINE(...)"
#endif

// Rows above the image: with STEP 1 no line leads there.
#define ABOVE (STEP == 1 ? 0 : RADIUS)

__kernel void intervening_pad(__global const float* restrict boundary,
                              __global const uchar* restrict valid, __global float* restrict padded,
                              const int width, const int height, const int padded_stride,
                              const ulong plane) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int p = (int)get_global_id(2);
  if (x >= padded_stride) return;
  float value = -1.0f;
  const int column = STEP * (x - RADIUS) + p % STEP;
  const int row = STEP * (y - ABOVE) + p / STEP;
  if (column >= 0 && column < width && row >= 0 && row < height) {
    const size_t pixel = (size_t)row * width + column;
    if (valid[pixel] != 0 || boundary[pixel] > 1.0f) value = boundary[pixel];
  }
  padded[p * plane + (size_t)y * padded_stride + x] = value;
}

// The value (dx, dy) from the first pixel. Shifts round down, also negative numbers.
#define SHIFT (STEP - 1)
#define VALUE(dx, dy)                                                                      \
  from[(((dx)&SHIFT) + 2 * ((dy)&SHIFT)) * plane + ((dy) >> SHIFT) * (long)padded_stride + \
       ((dx) >> SHIFT)]
#define POINT(n, before, dx, dy) \
  const float m##n = m##before > VALUE(dx, dy) ? m##before : VALUE(dx, dy);
#define LINE(k, n, dx, dy) \
  to[(k)*pitch] = m0 < 0.0f || VALUE(dx, dy) < 0.0f || m##n > 1.0f ? -1.0f : m##n;

__kernel void intervening_contour(__global const float* restrict padded,
                                  __global float* restrict values, const int width,
                                  const int padded_stride, const long plane, const ulong pitch) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  __global const float* restrict from = padded + ((size_t)(y + ABOVE) * padded_stride + x + RADIUS);
  __global float* restrict to = values + ((size_t)y * width + x);
  const float m0 = from[0];
  to[CENTRE * pitch] = m0 < 0.0f || m0 > 1.0f ? -1.0f : 0.0f;
  LINES
}
