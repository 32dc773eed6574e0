// network_conv_strided: a convolution with zero padding and stride 2 of one tensor, KERNEL x KERNEL
// taps, of which `before` lie left of and above pixel (2 x, 2 y) of the input, plus a bias; then,
// if asked for, the addition of a tensor and min(most, max(0, .)). Work-item (i, row, b) computes
// the vectors i, i + global size(0), ... of LANES pixels of a row for the PACKED output channels of
// block b. Tensors lie as planes.clh says, `in` in the layout in_margin, in_stride and in_plane,
// the others in the one of the output; strides are multiples of LANES. weights and bias lie as in
// conv.cl.
#include "boundary/network/planes.clh"
#include "boundary/network/vectors.clh"
#ifndef KERNEL
#error "boundary/network/conv_strided.cl needs KERNEL: 1, 3 or 5 taps along each axis"
#endif
#define PACKED 8

__kernel void network_conv_strided(
    __global const float* restrict in, const int inputs, __global const float* restrict weights,
    __global const float* restrict bias, __global const float* restrict added,
    __global float* restrict out, const int channels, const int in_stride, const int in_margin,
    const ulong in_plane, const int width, const int height, const int stride, const int margin,
    const ulong plane, const int before, const int relu, const float most, const int add) {
  const int y = ROW_INDEX(1, margin);
  const int block = (int)get_global_id(2);
  const size_t row = ROW_OF(y, margin, stride);
  const bool in_image = y >= 0 && y < height;
  __global const float* seen =
      in + ROW_OF(in_image ? 2 * y - before : 0, in_margin, in_stride) - before;
  for (int x = (int)get_global_id(0) * LANES; x < stride; x += (int)get_global_size(0) * LANES) {
    values sums[PACKED];
#pragma unroll
    for (int c = 0; c < PACKED; ++c) sums[c] = (values)(bias[block * PACKED + c]);
    if (in_image && x < width) {
      __global const float* weight = weights + (size_t)block * inputs * (KERNEL * KERNEL * PACKED);
      for (int channel = 0; channel < inputs; ++channel) {
        __global const float* from = seen + channel * in_plane + 2 * x;
        for (int ky = 0; ky < KERNEL; ++ky) {
#pragma unroll
          for (int kx = 0; kx < KERNEL; ++kx) {
            const values value = LOAD_EVERY_SECOND(from + ky * in_stride + kx);
#pragma unroll
            for (int c = 0; c < PACKED; ++c) sums[c] += weight[c] * value;
            weight += PACKED;
          }
        }
      }
    }
#pragma unroll
    for (int c = 0; c < PACKED; ++c) {
      const int channel = block * PACKED + c;
      if (channel >= channels) break;
      const size_t at = channel * plane + row + x;
      values value = sums[c];
      if (add) value += LOAD(added + at);
      if (relu) value = min(max(value, 0.0f), most);
      STORE(inside(value, in_image ? x : width, width), out + at);
    }
  }
}
