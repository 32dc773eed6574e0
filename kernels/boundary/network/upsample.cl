// network_upsample: tensors to the next finer level of a network. Both tensors lie as planes.clh
// says. Work-item (x, row, channel) writes one element of the target. Doubles both sides,
// bilinearly with half-pixel centres and repeated edge pixels: along each axis three quarters of
// the nearer source pixel and a quarter of the farther one.
#include "boundary/network/planes.clh"

__kernel void network_upsample(__global const float* restrict in, __global float* restrict out,
                               const int in_width, const int in_height, const int in_stride,
                               const int in_margin, const ulong in_plane, const int width,
                               const int height, const int stride, const int margin,
                               const ulong plane) {
  const int x = (int)get_global_id(0);
  const int y = ROW_INDEX(1, height, margin);
  const size_t channel = get_global_id(2);
  if (x >= stride) return;
  float value = 0.0f;
  if (x < width && y >= 0 && y < height) {
    const int near_x = x >> 1;
    const int far_x = clamp(near_x + (x & 1) * 2 - 1, 0, in_width - 1);
    const int near_y = y >> 1;
    const int far_y = clamp(near_y + (y & 1) * 2 - 1, 0, in_height - 1);
    const size_t first = channel * in_plane + (size_t)IMAGE_INDEX(1, height, margin) *
                                                  PLANE_ROWS(in_height, in_margin) * in_stride;
    const size_t near_row = first + ROW_OF(near_y, in_margin, in_stride);
    const size_t far_row = first + ROW_OF(far_y, in_margin, in_stride);
    const float nearer = 0.75f * in[near_row + near_x] + 0.25f * in[near_row + far_x];
    const float farther = 0.75f * in[far_row + near_x] + 0.25f * in[far_row + far_x];
    value = 0.75f * nearer + 0.25f * farther;
  }
  out[channel * plane + get_global_id(1) * stride + x] = value;
}
