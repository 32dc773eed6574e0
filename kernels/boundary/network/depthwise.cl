// network_depthwise: a convolution of each channel by itself with zero padding and stride 1,
// KERNEL x KERNEL taps `dilation` pixels apart, plus a bias; then, if asked for, the addition of a
// tensor and max(0, .). Work-item (i, row, channel) computes the LANES pixels of its row from
// i * LANES on. Tensors lie as planes.clh says; strides are multiples of LANES. weights:
// [channel][tap, row by row]; bias: [channel].
#include "boundary/network/planes.clh"
#include "boundary/network/vectors.clh"
#ifndef KERNEL
#error "boundary/network/depthwise.cl needs -DKERNEL: 1 or 3 taps along each axis"
#endif

__kernel void network_depthwise(__global const float* restrict in,
                                __global const float* restrict weights,
                                __global const float* restrict bias,
                                __global const float* restrict added, __global float* restrict out,
                                const int width, const int height, const int stride,
                                const int margin, const ulong plane, const int dilation,
                                const int relu, const int add) {
  const int x = (int)get_global_id(0) * LANES;
  const int y = ROW_INDEX(1, margin);
  const size_t channel = get_global_id(2);
  if (x >= stride) return;
  const size_t at = channel * plane + ROW_OF(y, margin, stride) + x;
  values sum = (values)(0.0f);
  if (y >= 0 && y < height) {
    sum = (values)(bias[channel]);
    __global const float* weight = weights + channel * (KERNEL * KERNEL);
    for (int ky = 0; ky < KERNEL; ++ky) {
      for (int kx = 0; kx < KERNEL; ++kx) {
        const int step = dilation * ((ky - KERNEL / 2) * stride + kx - KERNEL / 2);
        sum += *weight++ * LOAD(in + at + step);
      }
    }
    if (add) sum += LOAD(added + at);
    if (relu) sum = max(sum, 0.0f);
    sum = inside(sum, x, width);
  }
  STORE(sum, out + at);
}
