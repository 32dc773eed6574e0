// network_upsample: tensors to the next finer level of a network. Both tensors lie as planes.clh
// says. Doubles both sides, bilinearly with half-pixel centres and repeated edge pixels: along each
// axis three quarters of the nearer source pixel and a quarter of the farther one. Work-item (i, j,
// channel) takes the vectors i, i + global size(0), ... of LANES source pixels of a row, of each of
// which it makes two elements of DOWN = 4 rows of the target.
#define DOWN 4
#include "boundary/network/planes.clh"
#include "boundary/network/vectors.clh"

// Three quarters of the first and a quarter of the second.
#define BETWEEN(nearer, farther) (0.75f * (nearer) + 0.25f * (farther))

__kernel void network_upsample(__global const float* restrict in, __global float* restrict out,
                               const int in_width, const int in_height, const int in_stride,
                               const int in_margin, const ulong in_plane, const int width,
                               const int height, const int stride, const int margin,
                               const ulong plane) {
  const int top = ROW_INDEX(1, height, margin);
  const size_t image = IMAGE_INDEX(1, height, margin);
  const size_t channel = get_global_id(2);
  in += channel * in_plane + image * (PLANE_ROWS(in_height, in_margin) * in_stride);
  out += channel * plane + image * (PLANE_ROWS(height, margin) * stride);
  for (int x = (int)get_global_id(0) * LANES; 2 * x < stride;
       x += (int)get_global_size(0) * LANES) {
    // Between columns, of the source rows from top / 2 - 1 on.
    values even[4];
    values odd[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int y = clamp(top / 2 - 1 + i, 0, in_height - 1);
      __global const float* row = in + ROW_OF(y, in_margin, in_stride) + min(x, in_stride - LANES);
      const values here = LOAD(row);
      even[i] = BETWEEN(here, chosen(x, 0, here, LOAD(row - 1)));
      odd[i] = BETWEEN(here, chosen(x, in_width - 1, here, LOAD(row + 1)));
    }
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
      const int y = top + i;
      if (y < -margin - 1 || y > height + margin) continue;
      const int end = y >= 0 && y < height ? width : 0;
      __global float* to = out + ROW_OF(y, margin, stride) + 2 * x;
      const values left = BETWEEN(even[1 + i / 2], even[i % 2 * 2 + i / 2]);
      const values right = BETWEEN(odd[1 + i / 2], odd[i % 2 * 2 + i / 2]);
#if LANES == 1
      vstore2((float2)(inside(left, 2 * x, end), inside(right, 2 * x + 1, end)), 0, to);
#else
      values both;
      both.even = left.lo;
      both.odd = right.lo;
      STORE(inside(both, 2 * x, end), to);
      if (2 * x + LANES >= stride) continue;
      both.even = left.hi;
      both.odd = right.hi;
      STORE(inside(both, 2 * x + LANES, end), to + LANES);
#endif
    }
  }
}
