// network_output: the logistic function of a rectangle of one channel of a tensor, which lies as
// planes.clh says; the image begins there at element `first`. Work-item (x, y) writes pixel (to_x +
// x, to_y + y) of a map, which lies row by row without padding, from pixel (from_x + x, from_y + y)
// of the image.
#include "boundary/network/planes.clh"
#ifndef UNITS
#error "boundary/network/output.cl needs UNITS, the embedding's units in 1"
#endif

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

// network_embedding: the vectors of an embedding, from a tensor of `channels` channels, which lies
// as planes.clh says; the image begins at its element `first`. Work-item (x, y) writes cell (to_x +
// x, to_y + y), of `columns` in a row, from pixel (from_x + x, from_y + y) of the tensor:
// `channels` whole numbers of 1/UNITS, the nearest of those that fit. -32768, which no number
// becomes, stands for a value that is not finite.
__kernel void network_embedding(__global const float* restrict in, const ulong first,
                                const int channels, const int stride, const int margin,
                                const ulong plane, const int from_x, const int from_y,
                                __global short* restrict cells, const int columns, const int to_x,
                                const int to_y, const int width) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  __global const float* from = in + first + ROW_OF(from_y + y, margin, stride) + from_x + x;
  __global short* to = cells + ((size_t)(to_y + y) * columns + to_x + x) * channels;
  for (int c = 0; c < channels; ++c) {
    const float value = from[c * plane];
    to[c] =
        isfinite(value) ? (short)clamp(round(value * UNITS), -32767.0f, 32767.0f) : (short)-32768;
  }
}
