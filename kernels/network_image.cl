// network_image: into the network and out of it. Tensors are laid out as network_planes.clh says,
// images and maps row by row without padding.
#include "network_planes.clh"

// Work-item (x, row, channel) writes one element of the network's input, 4 (v - 1/2) of the values v
// of the part of an image from (left, top) on; image: three planes of `pixels` values.
__kernel void network_input(__global const float* restrict image, const int image_width,
                            const ulong pixels, const int left, const int top,
                            __global float* restrict out, const int width, const int height,
                            const int stride, const int margin, const ulong plane) {
  const int x = (int)get_global_id(0);
  const int y = ROW_INDEX(1, margin);
  const size_t channel = get_global_id(2);
  if (x >= stride) return;
  float value = 0.0f;
  if (x < width && y >= 0 && y < height) {
    value = 4.0f * (image[channel * pixels + (size_t)(top + y) * image_width + left + x] - 0.5f);
  }
  out[channel * plane + ROW_OF(y, margin, stride) + x] = value;
}

// Work-item (x, y) writes pixel (to_x + x, to_y + y) of a map, the logistic function of the
// network's last tensor at (from_x + x, from_y + y).
__kernel void network_output(__global const float* restrict in, const int stride, const int margin,
                             const int from_x, const int from_y, __global float* restrict map,
                             const int map_width, const int to_x, const int to_y, const int width) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const float value = in[ROW_OF(from_y + y, margin, stride) + from_x + x];
  map[(size_t)(to_y + y) * map_width + to_x + x] = 1.0f / (1.0f + exp(-value));
}

// Work-item (x, y) adds `share` of a map, brought to width x height pixels, to element
// y * stride + x of the strength; the first map sets it. The map has map_width x map_height pixels in
// rows of map_stride, from `first_pixel` on. Bilinear with half-pixel centres, the edge going on. 0 where valid is 0, and beyond the width.
__kernel void network_blend(__global const float* restrict map, const ulong first_pixel,
                            const int map_stride, const int map_width, const int map_height,
                            __global const uchar* restrict valid,
                            const float share, const int first, __global float* restrict strength,
                            const int width, const int height, const int stride) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= stride) return;
  const size_t element = (size_t)y * stride + x;
  float value = 0.0f;
  if (x < width && valid[element] != 0) {
    const float u = clamp((x + 0.5f) * ((float)map_width / width) - 0.5f, 0.0f, map_width - 1.0f);
    const float v =
        clamp((y + 0.5f) * ((float)map_height / height) - 0.5f, 0.0f, map_height - 1.0f);
    const int left = (int)u;
    const int right = min(left + 1, map_width - 1);
    const size_t upper = first_pixel + (size_t)(int)v * map_stride;
    const size_t lower = first_pixel + (size_t)min((int)v + 1, map_height - 1) * map_stride;
    const float above = mix(map[upper + left], map[upper + right], u - left);
    const float below = mix(map[lower + left], map[lower + right], u - left);
    value = share * mix(above, below, v - (int)v) + (first ? 0.0f : strength[element]);
  }
  strength[element] = value;
}
