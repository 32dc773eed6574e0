// network_depthwise: a convolution of each channel by itself with zero padding and stride STRIDE,
// KERNEL x KERNEL taps `dilation` pixels apart, of which `before` lie left of and above pixel
// STRIDE * (x, y) of the input; plus a bias; then, if asked for, the addition of a tensor and
// min(most, max(0, .)). Work-item (i, row, channel) computes the vectors i, i + global size(0), ...
// of LANES pixels of its row. Tensors lie as planes.clh says, `in` in the layout in_margin,
// in_stride and in_plane, the others in the one of the output; strides are multiples of LANES.
// weights: [channel][tap, row by row]; bias: [channel].
#include "boundary/network/planes.clh"
#include "boundary/network/vectors.clh"
#if !defined(KERNEL) || !defined(STRIDE)
#error \
    "boundary/network/depthwise.cl needs KERNEL (1, 3 or 5 taps along each axis), STRIDE (1 or 2)"
#endif
#if STRIDE == 1
#define LOAD_INPUT(from) LOAD(from)
#else
#define LOAD_INPUT(from) LOAD_EVERY_SECOND(from)
#endif

__kernel void network_depthwise(
    __global const float* restrict in, __global const float* restrict weights,
    __global const float* restrict bias, __global const float* restrict added,
    __global float* restrict out, const int in_stride, const int in_margin, const ulong in_plane,
    const int width, const int height, const int stride, const int margin, const ulong plane,
    const int before, const int dilation, const int relu, const float most, const int add) {
  const int y = ROW_INDEX(1, margin);
  const size_t channel = get_global_id(2);
  const size_t row = channel * plane + ROW_OF(y, margin, stride);
  const bool in_image = y >= 0 && y < height;
  __global const float* seen =
      in +
      (channel * in_plane +
       ROW_OF(in_image ? STRIDE * y - before * dilation : 0, in_margin, in_stride)) -
      before * dilation;
  for (int x = (int)get_global_id(0) * LANES; x < stride; x += (int)get_global_size(0) * LANES) {
    values sum = (values)(0.0f);
    if (in_image && x < width) {
      sum = (values)(bias[channel]);
      __global const float* weight = weights + channel * (KERNEL * KERNEL);
      // A GPU hides latency by unrolling the rows of taps; a CPU compiles the kernel in half the
      // time without.
#if LANES == 1
#pragma unroll
#else
#pragma unroll 1
#endif
      for (int ky = 0; ky < KERNEL; ++ky) {
#pragma unroll
        for (int kx = 0; kx < KERNEL; ++kx) {
          const int step = dilation * (ky * in_stride + kx);
          sum += *weight++ * LOAD_INPUT(seen + STRIDE * x + step);
        }
      }
      if (add) sum += LOAD(added + row + x);
      if (relu) sum = min(max(sum, 0.0f), most);
      sum = inside(sum, x, width);
    }
    STORE(sum, out + row + x);
  }
}
