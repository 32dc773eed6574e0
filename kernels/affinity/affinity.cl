// affinity: the affinity of two pixels by the largest value of the boundary map on the straight
// line between them, the intervening contour (Leung and Malik, Contour continuity in region based
// image segmentation, ECCV 1998).
//
// Lines begin at all pixels, with STEP 1, or at the kept ones, those of every other row and column,
// with STEP 2. Pixels are sorted into STEP * STEP planes, by x and y modulo STEP, so that what
// neighbouring work-items read are neighbouring words.
//
// affinity_pad copies the boundary map into planes with a border, so that affinity_entries needs no
// bound checks. Work-item (x, y, p) writes padded[p * plane + y * padded_stride + x], which stands
// for pixel (STEP (x - RADIUS) + p % STEP, STEP (y - ABOVE) + p / STEP): the value of the boundary
// map where that pixel lies in the image and has data, or is a wall, else -1. Pixel (x, y) of
// boundary and valid is element y * width + x.
//
// affinity_entries: work-item (i, y) computes entries of W for WIDTH first pixels (STEP x, STEP y),
// from x = WIDTH i on, or for the last WIDTH of the row. The entry of stencil entry k becomes
// values[k * pitch + y * width + x], `width` being that of the grid of first pixels. It is the
// affinity of boundary_weight.clh for the largest value on the line, both ends included; 0 where an
// end lies outside of the image or has no data, or where a wall is on the line; and 1 on the middle
// diagonal of a pixel with data. With STEP 1 lines lead to the pixels that come later in reading
// order, and the same bits become the entry of the other pixel, offsets[k] further on the opposite
// diagonal. With STEP 2 they lead to all pixels of the stencil, and `roots` and `inverse` get the
// square root of the entries' sum and its inverse, 0 where there is no data. What stands for no
// first pixel and no pair is not written.
//
// A wall is a pixel whose boundary strength is above 1. It has no data.
//
// LINES: the lines, which the launcher writes as macro calls. Lines with the same first pixels
// share their maxima:
//   POINT(n, before, dx, dy) defines m<n> as the larger of m<before> and the value at (dx, dy) from
//                            the first pixel; m0 is the value at that pixel itself
//   LINE(k, n, dx, dy)       the line of stencil entry k ends at (dx, dy); its maximum is m<n>
// RADIUS: of the stencil, pixels. CENTRE: the index of its middle entry. WIDTH: see floatw.clh.
#if !defined(RADIUS) || !defined(CENTRE) || !defined(LINES) || (STEP != 1 && STEP != 2)
#error "affinity/affinity.cl needs -DRADIUS, -DCENTRE, -DLINES, and -DSTEP, 1 or 2"
#endif
#include "common/floatw.clh"
#define FLOAT floatw
#include "affinity/boundary_weight.clh"

// Rows above the image: with STEP 1 no line leads there.
#define ABOVE (STEP == 1 ? 0 : RADIUS)
// The first entry of the stencil that lines lead to.
#define FIRST (STEP == 1 ? CENTRE : 0)
#define ENTRIES (2 * CENTRE + 1)

__kernel void affinity_pad(__global const float* restrict boundary,
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

// The values (dx, dy) from the first pixels. Shifts round down, also negative numbers.
#define SHIFT (STEP - 1)
#define VALUE(dx, dy)                                                                              \
  GLOBAL_LOADW(from + (((dx)&SHIFT) + 2 * ((dy)&SHIFT)) * plane + ((dy) >> SHIFT) * (long)stride + \
               ((dx) >> SHIFT))
#define POINT(n, before, dx, dy) const floatw m##n = max(m##before, VALUE(dx, dy));
#define LINE(k, n, dx, dy) \
  contours[k - FIRST] = m0 < 0.0f || VALUE(dx, dy) < 0.0f || m##n > 1.0f ? (floatw)(-1.0f) : m##n;

__kernel void affinity_entries(__global const float* restrict padded, __global float* values,
                               const int width, const int stride, const long plane,
                               const ulong pitch, const float inverse_scale, const float bias,
                               const float slope,
#if STEP == 1
                               __global const long* restrict offsets, const ulong rows
#else
                               __global float* restrict roots, __global float* restrict inverse
#endif
) {
  const int x = min((int)get_global_id(0) * WIDTH, width - WIDTH);
  const int y = (int)get_global_id(1);
  if ((int)get_global_id(0) * WIDTH >= width) return;
  const ulong row = (ulong)y * width + x;
  __global const float* restrict from = padded + ((size_t)(y + ABOVE) * stride + x + RADIUS);
  const floatw m0 = GLOBAL_LOADW(from);
  const floatw own = m0 < 0.0f || m0 > 1.0f ? (floatw)(0.0f) : (floatw)(1.0f);
  floatw contours[ENTRIES - FIRST];
  contours[CENTRE - FIRST] = m0;
  LINES
  floatw sum = (floatw)(0.0f);
  for (int k = FIRST; k < ENTRIES; ++k) {
    const floatw ic = contours[k - FIRST];
    const floatw w = weight(ic, inverse_scale, bias, slope);
    floatw entry = ic < 0.0f ? (floatw)(0.0f) : w;
    if (k == CENTRE) entry = own;
    GLOBAL_STOREW(entry, values + k * pitch + row);
#if STEP == 1
    if (k == CENTRE) continue;
    __global float* mirrored = values + (2 * CENTRE - k) * pitch;
    const long other = (long)row + offsets[k];
    if (other >= 0 && other + WIDTH <= (long)rows) {
      GLOBAL_STOREW(entry, mirrored + other);
      continue;
    }
    lanesw lanes;
    lanes.all = entry;
    for (int i = 0; i < WIDTH; ++i) {
      if (other + i >= 0 && other + i < (long)rows) mirrored[other + i] = lanes.lane[i];
    }
#else
    sum += entry;
#endif
  }
#if STEP == 2
  const floatw root = sqrt(sum);
  GLOBAL_STOREW(root, roots + row);
  GLOBAL_STOREW(sum > 0.0f ? 1.0f / root : (floatw)(0.0f), inverse + row);
#endif
}
