// network_image: into the network and out of it. Tensors are laid out as network_planes.clh says,
// images and maps row by row without padding.
#include "boundary/network/planes.clh"

// How an axis of `in` pixels is resized to `out`, with half-pixel centres: the mean of what a pixel
// covers to shrink, cubic to enlarge (Keys, Cubic convolution interpolation for digital image
// processing, IEEE Trans. ASSP 29, 1981, with a = -3/4). Pixel i is a sum over axis_count() pixels
// from axis_first() on, which may lie beyond the edge, with axis_weight() for pixel k. Positions
// are whole numbers of 1 / out or half of that, so they are exact.
inline int axis_first(const int i, const int in, const int out) {
  if (in == out) return i;
  if (in > out) return (int)((long)i * in / out);
  // The pixel to the left of the centre is at least -1.
  return (int)(((2L * i + 1) * in + out) / (2L * out)) - 2;
}

inline int axis_count(const int i, const int in, const int out) {
  if (in == out) return 1;
  if (in > out) return (int)(((i + 1L) * in + out - 1) / out) - axis_first(i, in, out);
  return 4;
}

inline float axis_weight(const int k, const int i, const int in, const int out) {
  if (in == out) return 1.0f;
  if (in > out) {
    return (float)(min((k + 1L) * out, (i + 1L) * in) - max((long)k * out, (long)i * in)) / in;
  }
  const float far = fabs((float)((2L * k + 1) * out - (2L * i + 1) * in) / (2.0f * out));
  if (far < 1.0f) return (1.25f * far - 2.25f) * far * far + 1.0f;
  return ((-0.75f * far + 3.75f) * far - 6.0f) * far + 3.0f;
}

// The pixel of a row of `count` that is seen at i when the row is mirrored at its ends, each end
// twice.
inline int mirrored(const int i, const int count) {
  const int period = 2 * count;
  const int at = (i % period + period) % period;
  return at < count ? at : period - 1 - at;
}

// Work-item (x, row) writes the three channels of one pixel of the network's input, 4 (v - 1/2) of
// the values v in [0, 1] of the part from (left, top) on of a picture: of image_width x
// image_height pixels of `channels` values (1: grey, or 3), resized to scaled_width x scaled_height
// and mirrored beyond its edges by `border`.
__kernel void network_input(__global const float* restrict image, const int channels,
                            const int image_width, const int image_height, const int scaled_width,
                            const int scaled_height, const int border, const int left,
                            const int top, __global float* restrict out, const int width,
                            const int height, const int stride, const int margin,
                            const ulong plane) {
  const int x = (int)get_global_id(0);
  const int y = ROW_INDEX(1, margin);
  if (x >= stride) return;
  const size_t at = ROW_OF(y, margin, stride) + x;
  if (x >= width || y < 0 || y >= height) {
    for (int channel = 0; channel < 3; ++channel) out[channel * plane + at] = 0.0f;
    return;
  }
  const int column = mirrored(left + x - border, scaled_width);
  const int row = mirrored(top + y - border, scaled_height);
  const int first_x = axis_first(column, image_width, scaled_width);
  const int first_y = axis_first(row, image_height, scaled_height);
  const int count_x = axis_count(column, image_width, scaled_width);
  const int count_y = axis_count(row, image_height, scaled_height);
  float sums[3] = {0.0f, 0.0f, 0.0f};
  for (int j = first_y; j < first_y + count_y; ++j) {
    const size_t line = (size_t)clamp(j, 0, image_height - 1) * image_width;
    const float weight_y = axis_weight(j, row, image_height, scaled_height);
    for (int i = first_x; i < first_x + count_x; ++i) {
      const size_t pixel = (line + clamp(i, 0, image_width - 1)) * channels;
      const float weight = weight_y * axis_weight(i, column, image_width, scaled_width);
      for (int channel = 0; channel < 3; ++channel) {
        sums[channel] += weight * image[pixel + min(channel, channels - 1)];
      }
    }
  }
  // Cubic interpolation overshoots.
  for (int channel = 0; channel < 3; ++channel) {
    out[channel * plane + at] = 4.0f * (clamp(sums[channel], 0.0f, 1.0f) - 0.5f);
  }
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
// y * stride + x of the strength; the first map sets it. The map has map_width x map_height pixels
// in rows of map_stride, from `first_pixel` on. Bilinear with half-pixel centres, the edge going
// on. 0 where valid is 0, and beyond the width.
__kernel void network_blend(__global const float* restrict map, const ulong first_pixel,
                            const int map_stride, const int map_width, const int map_height,
                            __global const uchar* restrict valid, const float share,
                            const int first, __global float* restrict strength, const int width,
                            const int height, const int stride) {
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
