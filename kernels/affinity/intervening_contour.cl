// affinity_contour: intervening contour (Leung and Malik, Contour continuity in region based image
// segmentation, ECCV 1998): the largest boundary strength on the straight line between two pixels.
//
// affinity_pad gives the strength a border, so that affinity_contour needs no bounds. Work-item
// (x, y) writes padded[y * padded_stride + x], which stands for pixel (x - RADIUS, y): its strength
// where it lies in the image and has data, else -1. Pixel (x, y) of strength and valid is element
// y * stride + x.
//
// affinity_contour: work-item (x, y) does every line that leaves pixel (x, y) for one that comes
// later in reading order. The line of stencil entry k puts its maximum, both ends included, into
// values[k * pitch + y * stride + x], or -1 where an end lies outside the image or has no data. The
// stencil's middle entry gets 0 or -1 alike. padded reaches so far that all loads lie within it.
//
// LINES: the lines, written by the launcher. Lines with the same first steps share their maxima:
//   STEP(n, before, dx, dy)  m<n> is the larger of m<before> and the strength at (dx, dy); m0 is
//                            that of the pixel itself
//   LINE(k, n, dx, dy)       the line of stencil entry k, whose maximum is m<n>, ends at (dx, dy)
#ifndef RADIUS
#error "affinity_contour.cl: define RADIUS, the stencil's radius in pixels"
#endif
#ifndef CENTRE
#error "affinity_contour.cl: define CENTRE, the stencil's middle entry"
#endif
#ifndef LINES
#error "affinity_contour.cl: define LINES, a sequence of STEP(...) and LINE(...)"
#endif

__kernel void affinity_pad(__global const float* restrict strength,
                           __global const uchar* restrict valid, __global float* restrict padded,
                           const int width, const int height, const int stride,
                           const int padded_stride) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= padded_stride) return;
  float value = -1.0f;
  const int column = x - RADIUS;
  if (column >= 0 && column < width && y < height) {
    const size_t pixel = (size_t)y * stride + column;
    if (valid[pixel] != 0) value = strength[pixel];
  }
  padded[(size_t)y * padded_stride + x] = value;
}

#define STRENGTH(dx, dy) from[(dy) * (long)padded_stride + (dx)]
#define STEP(n, before, dx, dy) \
  const float m##n = m##before > STRENGTH(dx, dy) ? m##before : STRENGTH(dx, dy);
#define LINE(k, n, dx, dy) to[(k)*pitch] = m0 < 0.0f || STRENGTH(dx, dy) < 0.0f ? -1.0f : m##n;

__kernel void affinity_contour(__global const float* restrict padded,
                               __global float* restrict values, const int stride,
                               const int padded_stride, const ulong pitch) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= stride) return;
  __global const float* restrict from = padded + ((size_t)y * padded_stride + x + RADIUS);
  __global float* restrict to = values + ((size_t)y * stride + x);
  const float m0 = from[0];
  to[CENTRE * pitch] = m0 < 0.0f ? -1.0f : 0.0f;
  LINES
}
