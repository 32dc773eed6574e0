// network_output: the logistic function of a rectangle of one channel of a tensor, which lies as
// planes.clh says; the channel begins at element `first`. Work-item (x, y) writes pixel (to_x + x,
// to_y + y) of a map, which lies row by row without padding, from pixel (from_x + x, from_y + y) of
// the channel.
#include "boundary/network/planes.clh"

__kernel void network_output(__global const float* restrict in, const ulong first, const int stride,
                             const int margin, const int from_x, const int from_y,
                             __global float* restrict map, const int map_width, const int to_x,
                             const int to_y, const int width) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const float value = in[first + ROW_OF(from_y + y, margin, stride) + from_x + x];
  map[(size_t)(to_y + y) * map_width + to_x + x] = 1.0f / (1.0f + exp(-value));
}
