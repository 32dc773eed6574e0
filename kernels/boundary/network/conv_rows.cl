// network_conv_rows: a convolution with zero padding and stride STRIDE, or, with OUTPUTS 1, one of
// each channel by itself. KERNEL x KERNEL taps, `dilation` pixels apart, of which the first lies
// `before` pixels left of and above pixel STRIDE * (x, y) of the input, plus a bias; then, if asked
// for, the addition of a tensor and min(most, max(0, .)). Work-item (i, j, b) computes the vectors
// i, i + global size(0), ... of LANES pixels of DOWN rows for the OUTPUTS output channels of block
// b; a GPU shares the values that it reads among the rows. Tensors lie as planes.clh says; strides
// are multiples of LANES. A block of weights has OUTPUTS outputs.
#include "boundary/network/conv.clh"
#include "boundary/network/planes.clh"
#include "boundary/network/vectors.clh"
#if !defined(KERNEL) || !defined(STRIDE) || !defined(OUTPUTS) || !defined(DILATION)
#error "boundary/network/conv_rows.cl needs KERNEL, STRIDE (1 or 2), OUTPUTS (1 or 8), DILATION"
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
  const int top = ROW_INDEX(1, height, margin);
  const int image = IMAGE_INDEX(1, height, margin);
  const int block = (int)get_global_id(2);
  const bool in_image = top + DOWN > 0 && top < height;
  __global const float* seen = in + FIRST_INPUT(block) * in_plane - before +
                               (size_t)image * PLANE_ROWS(in_height, in_margin) * in_stride;
  const size_t first = (size_t)image * PLANE_ROWS(height, margin) * stride;
  for (int x = (int)get_global_id(0) * LANES; x < stride; x += (int)get_global_size(0) * LANES) {
    values sums[DOWN][OUTPUTS];
#pragma unroll
    for (int i = 0; i < DOWN * OUTPUTS; ++i) {
      sums[i / OUTPUTS][i % OUTPUTS] = (values)(bias[block * OUTPUTS + i % OUTPUTS]);
    }
    if (in_image && x < width) {
      __global const float* weight = weights + (size_t)block * INPUTS * (KERNEL * KERNEL * OUTPUTS);
      for (int channel = 0; channel < INPUTS; ++channel) {
        __global const float* from = seen + channel * in_plane + STRIDE * x;
        // A CPU compiles the kernel in half the time without.
#if OUTPUTS == 1 && LANES == 1
#pragma unroll
#elif OUTPUTS == 1
#pragma unroll 1
#endif
        for (int ky = 0; ky < KERNEL; ++ky) {
#pragma unroll
          for (int i = 0; i < DOWN; ++i) {
            const int y = clamp(STRIDE * (top + i) + DILATION * ky - before, -in_margin - 1,
                                in_height + in_margin);
            __global const float* row = from + ROW_OF(y, in_margin, in_stride);
#pragma unroll
            for (int kx = 0; kx < KERNEL; ++kx) {
              const values value = LOAD_INPUT(row + DILATION * kx);
#pragma unroll
              for (int c = 0; c < OUTPUTS; ++c) {
                sums[i][c] += weight[(ky * KERNEL + kx) * OUTPUTS + c] * value;
              }
            }
          }
        }
        weight += KERNEL * KERNEL * OUTPUTS;
      }
    }
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
      const int y = top + i;
      if (y < -margin - 1 || y > height + margin) continue;
#pragma unroll
      for (int c = 0; c < OUTPUTS; ++c) {
        const int channel = block * OUTPUTS + c;
        if (channel >= channels) break;
        const size_t at = channel * plane + first + ROW_OF(y, margin, stride) + x;
        values value = sums[i][c];
        if (add) value += LOAD(added + at);
        if (relu) value = min(max(value, 0.0f), most);
        STORE(inside(value, y >= 0 && y < height ? x : width, width), out + at);
      }
    }
  }
}
