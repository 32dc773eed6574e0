// network_upsample: tensors to the next finer level of a network. Both tensors lie as planes.clh
// says. Work-item (x, i, channel) writes column x of DOWN = 4 rows of the target. Doubles both
// sides, bilinearly with half-pixel centres and repeated edge pixels: along each axis three
// quarters of the nearer source pixel and a quarter of the farther one.
#define DOWN 4
#include "boundary/network/planes.clh"

__kernel void network_upsample(__global const float* restrict in, __global float* restrict out,
                               const int in_width, const int in_height, const int in_stride,
                               const int in_margin, const ulong in_plane, const int width,
                               const int height, const int stride, const int margin,
                               const ulong plane) {
  const int x = (int)get_global_id(0);
  const int top = ROW_INDEX(1, height, margin);
  const size_t image = IMAGE_INDEX(1, height, margin);
  const size_t channel = get_global_id(2);
  if (x >= stride) return;
  // Of the source rows from top / 2 - 1 on.
  float between[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  if (x < width) {
    const int near = x >> 1;
    const int far = clamp(near + (x & 1) * 2 - 1, 0, in_width - 1);
    in += channel * in_plane + image * (PLANE_ROWS(in_height, in_margin) * in_stride);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int y = clamp(top / 2 - 1 + i, 0, in_height - 1);
      __global const float* row = in + ROW_OF(y, in_margin, in_stride);
      between[i] = 0.75f * row[near] + 0.25f * row[far];
    }
  }
  out += channel * plane + image * (PLANE_ROWS(height, margin) * stride) + x;
#pragma unroll
  for (int i = 0; i < DOWN; ++i) {
    const int y = top + i;
    if (y < -margin - 1 || y > height + margin) continue;
    const float value = 0.75f * between[1 + i / 2] + 0.25f * between[i % 2 * 2 + i / 2];
    out[ROW_OF(y, margin, stride)] = y >= 0 && y < height ? value : 0.0f;
  }
}
