// network_conv_rows: a convolution with zero padding and stride STRIDE, or, with OUTPUTS 1, one of
// each channel by itself. KERNEL x KERNEL taps, `dilation` pixels apart, of which the first lies
// `before` pixels left of and above pixel STRIDE * (x, y) of the input, plus a bias; then, if asked
// for, the addition of a tensor and min(most, max(0, .)). Work-item (i, row, b) computes the
// vectors i, i + global size(0), ... of LANES pixels of a row for the OUTPUTS output channels of
// block b. Tensors lie as planes.clh says; strides are multiples of LANES. weights and bias lie as
// in conv.cl, with OUTPUTS outputs in a block.
#include "boundary/network/conv.clh"
#include "boundary/network/planes.clh"
#include "boundary/network/vectors.clh"
#if !defined(KERNEL) || !defined(STRIDE) || !defined(OUTPUTS)
#error "boundary/network/conv_rows.cl needs KERNEL (1, 3 or 5), STRIDE (1 or 2), OUTPUTS (1 or 8)"
#endif
#if STRIDE == 1
#define LOAD_INPUT(from) LOAD(from)
#else
#define LOAD_INPUT(from) LOAD_EVERY_SECOND(from)
#endif
#if OUTPUTS == 1
#define INPUTS 1
#define FIRST_INPUT(block) (block)
#else
#define INPUTS inputs
#define FIRST_INPUT(block) 0
#endif

__kernel void network_conv_rows(CONVOLUTION_PARAMETERS) {
  const int y = ROW_INDEX(1, height, margin);
  const int block = (int)get_global_id(2);
  const size_t row = get_global_id(1) * stride;
  const bool in_image = y >= 0 && y < height;
  const int image = IMAGE_INDEX(1, height, margin);
  __global const float* seen = in + FIRST_INPUT(block) * in_plane +
                               (size_t)image * PLANE_ROWS(in_height, in_margin) * in_stride +
                               ROW_OF(in_image ? STRIDE * y - before : 0, in_margin, in_stride) -
                               before;
  for (int x = (int)get_global_id(0) * LANES; x < stride; x += (int)get_global_size(0) * LANES) {
    values sums[OUTPUTS];
#pragma unroll
    for (int c = 0; c < OUTPUTS; ++c) sums[c] = (values)(bias[block * OUTPUTS + c]);
    if (in_image && x < width) {
      __global const float* weight = weights + (size_t)block * INPUTS * (KERNEL * KERNEL * OUTPUTS);
      for (int channel = 0; channel < INPUTS; ++channel) {
        __global const float* from = seen + channel * in_plane + STRIDE * x;
        // A GPU hides the latency of the reads of single channels by unrolling the rows of taps; a
        // CPU compiles the kernel in half the time without.
#if OUTPUTS == 1 && LANES == 1
#pragma unroll
#elif OUTPUTS == 1
#pragma unroll 1
#endif
        for (int ky = 0; ky < KERNEL; ++ky) {
#pragma unroll
          for (int kx = 0; kx < KERNEL; ++kx) {
            const values value = LOAD_INPUT(from + dilation * (ky * in_stride + kx));
#pragma unroll
            for (int c = 0; c < OUTPUTS; ++c) sums[c] += weight[c] * value;
            weight += OUTPUTS;
          }
        }
      }
    }
#pragma unroll
    for (int c = 0; c < OUTPUTS; ++c) {
      const int channel = block * OUTPUTS + c;
      if (channel >= channels) break;
      const size_t at = channel * plane + row + x;
      values value = sums[c];
      if (add) value += LOAD(added + at);
      if (relu) value = min(max(value, 0.0f), most);
      STORE(inside(value, in_image ? x : width, width), out + at);
    }
  }
}
