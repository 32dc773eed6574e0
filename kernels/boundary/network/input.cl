// network_input: the first tensor of a network, in the layout of planes.clh, from a picture, which
// lies row by row without padding.
#include "boundary/network/planes.clh"

// How an axis of `in` pixels is resized to `out` pixels, with half-pixel centres: to shrink, by the
// mean over the area that a new pixel covers; to enlarge, by cubic convolution (Keys, Cubic
// convolution interpolation for digital image processing, IEEE Trans. ASSP 29, 1981, with
// a = -3/4). New pixel i is a weighted sum over axis_count() old pixels from axis_first() on, which
// may lie beyond the edge; old pixel k has the weight axis_weight(). Positions are multiples of
// 1 / (2 out), computed in integers, so they are exact.
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

// The index of the pixel that appears at position i when a row of `count` pixels is mirrored at its
// ends, where the edge pixel appears twice.
inline int mirrored(const int i, const int count) {
  if (i >= 0 && i < count) return i;
  const int period = 2 * count;
  const int at = (i % period + period) % period;
  return at < count ? at : period - 1 - at;
}

// Work-item (x, row) writes the three channels of one pixel of the tensor, 4 (v - 1/2) for values v
// in [0, 1]. The image begins at element `first` of each plane. The picture has image_width x
// image_height pixels of `channels` values (1 for grey, or 3). It is resized to scaled_width x
// scaled_height, turned, and mirrored beyond its edges by `border` pixels; the tensor holds the
// part of the result from pixel (left, top) on. Pixel (u, v) of the turned picture is pixel (u, v)
// of the resized one, or (v, u) if `transposed`, counted from the right if flip_x and from below if
// flip_y. `image` holds a part of the picture, in rows of part_width pixels from pixel (part_x,
// part_y) on, with every pixel that is read.
__kernel void network_input(__global const float* restrict image, const int channels,
                            const int image_width, const int image_height, const int scaled_width,
                            const int scaled_height, const int border, const int transposed,
                            const int flip_x, const int flip_y, const int part_x, const int part_y,
                            const int part_width, const int left, const int top,
                            __global float* restrict out, const ulong first, const int width,
                            const int height, const int stride, const int margin,
                            const ulong plane) {
  const int x = (int)get_global_id(0);
  const int y = ROW_INDEX(1, height, margin);
  if (x >= stride) return;
  const size_t at = first + ROW_OF(y, margin, stride) + x;
  if (x >= width || y < 0 || y >= height) {
    for (int channel = 0; channel < 3; ++channel) out[channel * plane + at] = 0.0f;
    return;
  }
  const int u = left + x - border;
  const int v = top + y - border;
  const int unflipped_column = mirrored(transposed ? v : u, scaled_width);
  const int unflipped_row = mirrored(transposed ? u : v, scaled_height);
  const int column = flip_x ? scaled_width - 1 - unflipped_column : unflipped_column;
  const int row = flip_y ? scaled_height - 1 - unflipped_row : unflipped_row;
  const int first_x = axis_first(column, image_width, scaled_width);
  const int first_y = axis_first(row, image_height, scaled_height);
  const int count_x = axis_count(column, image_width, scaled_width);
  const int count_y = axis_count(row, image_height, scaled_height);
  float sums[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll 1
  for (int j = first_y; j < first_y + count_y; ++j) {
    const size_t line = (size_t)(clamp(j, 0, image_height - 1) - part_y) * part_width;
    const float weight_y = axis_weight(j, row, image_height, scaled_height);
#pragma unroll 1
    for (int i = first_x; i < first_x + count_x; ++i) {
      const size_t pixel = (line + clamp(i, 0, image_width - 1) - part_x) * channels;
      const float weight = weight_y * axis_weight(i, column, image_width, scaled_width);
      for (int channel = 0; channel < 3; ++channel) {
        sums[channel] += weight * image[pixel + min(channel, channels - 1)];
      }
    }
  }
  // Cubic convolution overshoots the range of its inputs.
  for (int channel = 0; channel < 3; ++channel) {
    out[channel * plane + at] = 4.0f * (clamp(sums[channel], 0.0f, 1.0f) - 0.5f);
  }
}
