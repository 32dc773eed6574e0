// network_conv: a convolution with zero padding and stride 1, KERNEL x KERNEL taps `dilation`
// pixels apart, plus a bias; then, if asked for, the addition of a tensor (He, Zhang, Ren and Sun,
// Deep residual learning, CVPR 2016) and min(most, max(0, .)).
//
// Work-item (b, i, row) computes VECTORS x LANES pixels of one row for the CHANNELS output channels
// from b * CHANNELS on; work-groups that read the same inputs follow one another. This is register
// tiling, as in products of dense matrices (Goto and van de Geijn, Anatomy of high-performance
// matrix multiplication, ACM TOMS 34, 2008): each value read takes part in CHANNELS products, each
// weight in VECTORS x LANES. The vectors of a work-item lie GROUP * LANES pixels apart, so that the
// work-items of a group read neighbouring pixels. Tensors lie as planes.clh says; strides are
// multiples of LANES. weights: [block of PACKED outputs][input channel][tap, row by row][output in
// block], with zeros for the outputs of the last block that do not exist. bias: [block][output in
// block].
#include "boundary/network/conv.clh"
#include "boundary/network/planes.clh"
#include "boundary/network/vectors.clh"
#if !defined(KERNEL) || !defined(CHANNELS) || !defined(VECTORS) || !defined(GROUP)
#error "boundary/network/conv.cl needs KERNEL (1, 3 or 5), CHANNELS (4 or 8), VECTORS, GROUP"
#endif
#define TAPS (KERNEL * KERNEL)
#define PACKED 8
#if PACKED % CHANNELS != 0
#error "boundary/network/conv.cl: CHANNELS must be 4 or 8"
#endif

// Adds the products of the vectors `in` of one input channel with the weights of CHANNELS outputs.
// Not a function: its sums would go by way of memory.
#if LANES == 1
#define ADD_PRODUCTS(sums, in, weight)                           \
  _Pragma("unroll") for (int c = 0; c < CHANNELS; c += 4) {      \
    const float4 four = *(__global const float4*)((weight) + c); \
    _Pragma("unroll") for (int v = 0; v < VECTORS; ++v) {        \
      sums[c][v] += four.x * in[v];                              \
      sums[c + 1][v] += four.y * in[v];                          \
      sums[c + 2][v] += four.z * in[v];                          \
      sums[c + 3][v] += four.w * in[v];                          \
    }                                                            \
  }
#else
#define ADD_PRODUCTS(sums, in, weight)                                             \
  _Pragma("unroll") for (int c = 0; c < CHANNELS; ++c) {                           \
    const values one = (values)((weight)[c]);                                      \
    _Pragma("unroll") for (int v = 0; v < VECTORS; ++v) sums[c][v] += one * in[v]; \
  }
#endif

__kernel __attribute__((reqd_work_group_size(1, GROUP, 1))) void network_conv(
    CONVOLUTION_PARAMETERS) {
  const int y = ROW_INDEX(2, height, margin);
  const int block = (int)get_global_id(0);
  const int first = (int)get_group_id(1) * (VECTORS * GROUP * LANES) + (int)get_local_id(1) * LANES;
  const size_t row = get_global_id(2) * stride;
  const bool in_image = y >= 0 && y < height;

  int x[VECTORS];
  values sums[CHANNELS][VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    // A vector beyond the end of the row reads the last one of the row and is not stored.
    x[v] = min(first + v * GROUP * LANES, stride - LANES);
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) sums[c][v] = (values)(bias[block * CHANNELS + c]);
  }
  if (in_image) {
    const int output = block * CHANNELS;
    __global const float* restrict weight =
        weights + (size_t)(output / PACKED) * inputs * (TAPS * PACKED) + output % PACKED;
    __global const float* restrict at = in + row;
#pragma unroll 1
    for (int channel = 0; channel < inputs; ++channel) {
      // A GPU hides latency by unrolling the rows of taps; on a CPU the vectors of all nine taps
      // would not fit its registers.
#if LANES == 1
#pragma unroll
#else
#pragma unroll 1
#endif
      for (int ky = 0; ky < KERNEL; ++ky) {
#pragma unroll
        for (int kx = 0; kx < KERNEL; ++kx) {
          const int step = dilation * ((ky - KERNEL / 2) * stride + kx - KERNEL / 2);
          values seen[VECTORS];
#pragma unroll
          for (int v = 0; v < VECTORS; ++v) seen[v] = LOAD(at + step + x[v]);
          ADD_PRODUCTS(sums, seen, weight);
          weight += PACKED;
        }
      }
      at += plane;
    }
  }
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    if (block * CHANNELS + c >= channels) break;
    const size_t at = (size_t)(block * CHANNELS + c) * plane + row;
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      if (first + v * GROUP * LANES >= stride) break;
      values value = sums[c][v];
      if (add) value += LOAD(added + at + x[v]);
      if (relu) value = min(max(value, 0.0f), most);
      STORE(inside(value, in_image ? x[v] : width, width), out + at + x[v]);
    }
  }
}
