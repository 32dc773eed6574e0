// network_conv_strip: a convolution of stride 1 for CPUs, with 1 tap or 3 x 3 adjacent ones.
//
// Work-item (i, group) computes ROWS rows of a strip of `vectors` * LANES pixels, for all output
// channels. It first writes what it needs of the strip to `seen`, and then adds products with the
// weights of CHANNELS outputs and VECTORS vectors at a time in registers (Goto and van de Geijn,
// Anatomy of high-performance matrix multiplication, ACM TOMS 34, 2008).
//
// Three rows of taps go by Winograd's minimal filtering F(4, 3) along y (Lavin and Gray, Fast
// algorithms for convolutional neural networks, CVPR 2016): four rows of outputs are linear
// combinations of six products of rows with weights, where twelve products would be needed. They
// are the values of polynomials at 0, A, -A, B, -B and infinity; A = 3/4 and B = 3/2 round less
// than whole numbers do. Rows are grouped from the first one of an image on.
//
// Tensors lie as planes.clh says; strides are multiples of LANES. weights: [block of PACKED
// outputs][product][input channel][tap along x][output in block], transformed for KERNEL 3
// (convolutions.cpp); bias: [block][output in block]. seen: [product][input channel][pixel of the
// strip, and for KERNEL 3 LANES more].
#include "boundary/network/conv.clh"
#include "boundary/network/planes.clh"
#include "boundary/network/vectors.clh"
#if !defined(KERNEL) || !defined(CHANNELS) || !defined(VECTORS)
#error "boundary/network/conv_strip.cl needs KERNEL (1 or 3), CHANNELS (4 or 8), VECTORS"
#endif
#if KERNEL == 3
#define ROWS 4
#define PRODUCTS 6
#define MORE 1
#else
#define ROWS 1
#define PRODUCTS 1
#define MORE 0
#endif
#define PACKED 8
// The points of Winograd's polynomials, their squares and cubes.
#define A 0.75f
#define B 1.5f
#define AA (A * A)
#define BB (B * B)

// Writes what the strip from (left, top) on needs of each input channel to `seen`. Elements beyond
// the end of a row are 0.
inline void copy_seen(__local float* restrict seen, __global const float* restrict in,
                      const int inputs, const int length, const int left, const int top,
                      const int height, const int stride, const int margin, const ulong plane) {
#pragma unroll 1
  for (int channel = 0; channel < inputs; ++channel) {
#pragma unroll 1
    for (int i = 0; i < length; i += LANES) {
      const int x = left + i;
      __local float* to = seen + channel * length + i;
#if KERNEL == 3
      const int step = inputs * length;
      values d[6];
#pragma unroll
      for (int row = 0; row < 6; ++row) {
        // All rows below the image are 0.
        const int y = min(top - 1 + row, height);
        d[row] = x < stride ? LOAD(in + channel * plane + ROW_OF(y, margin, stride) + x - 1)
                            : (values)(0.0f);
      }
      const values even_a = d[4] - BB * d[2];
      const values odd_a = A * (d[3] - BB * d[1]);
      const values even_b = d[4] - AA * d[2];
      const values odd_b = B * (d[3] - AA * d[1]);
      STORE_LOCAL(AA * BB * d[0] - (AA + BB) * d[2] + d[4], to);
      STORE_LOCAL(even_a + odd_a, to + step);
      STORE_LOCAL(even_a - odd_a, to + 2 * step);
      STORE_LOCAL(even_b + odd_b, to + 3 * step);
      STORE_LOCAL(even_b - odd_b, to + 4 * step);
      STORE_LOCAL(AA * BB * d[1] - (AA + BB) * d[3] + d[5], to + 5 * step);
#else
      STORE_LOCAL(x < stride ? LOAD(in + channel * plane + ROW_OF(top, margin, stride) + x)
                             : (values)(0.0f),
                  to);
#endif
    }
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void network_conv_strip(
    CONVOLUTION_PARAMETERS, const int vectors, __local float* restrict seen) {
  const int length = (vectors + MORE) * LANES;
  const int left = (int)get_global_id(0) * vectors * LANES;
  const int end = min(left + vectors * LANES, stride);
  const int groups = (height + ROWS - 1) / ROWS;
  const int top = (int)get_global_id(1) % groups * ROWS;
  const size_t image =
      (size_t)((int)get_global_id(1) / groups) * PLANE_ROWS(height, margin) * stride;
  copy_seen(seen, in + image, inputs, length, left, top, height, stride, margin, plane);

#pragma unroll 1
  for (int first = 0; first < channels; first += CHANNELS) {
#pragma unroll 1
    for (int x = left; x < end; x += VECTORS * LANES) {
      __global const float* restrict weight =
          weights + (size_t)(first / PACKED) * PRODUCTS * inputs * (KERNEL * PACKED) +
          first % PACKED;
      __local const float* restrict at = seen + (x - left);
      values products[PRODUCTS][CHANNELS][VECTORS];
#pragma unroll 1
      for (int p = 0; p < PRODUCTS; ++p) {
        values sums[CHANNELS][VECTORS];
#pragma unroll
        for (int i = 0; i < CHANNELS * VECTORS; ++i) {
          sums[i / VECTORS][i % VECTORS] = (values)(0.0f);
        }
#pragma unroll 1
        for (int channel = 0; channel < inputs; ++channel) {
#pragma unroll
          for (int tap = 0; tap < KERNEL; ++tap) {
            values value[VECTORS];
#pragma unroll
            for (int v = 0; v < VECTORS; ++v) value[v] = LOAD(at + v * LANES + tap);
#pragma unroll
            for (int c = 0; c < CHANNELS; ++c) {
              const values one = (values)(weight[c]);
#pragma unroll
              for (int v = 0; v < VECTORS; ++v) sums[c][v] += one * value[v];
            }
            weight += PACKED;
          }
          at += length;
        }
#pragma unroll
        for (int i = 0; i < CHANNELS * VECTORS; ++i) {
          products[p][i / VECTORS][i % VECTORS] = sums[i / VECTORS][i % VECTORS];
        }
      }
      const int last = min(CHANNELS, channels - first);
#pragma unroll 1
      for (int c = 0; c < last; ++c) {
        const values start = (values)(bias[first + c]);
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          const int here = x + v * LANES;
          if (here >= end) break;
          values results[ROWS];
#if KERNEL == 3
          const values even_a = products[1][c][v] + products[2][c][v];
          const values odd_a = A * (products[1][c][v] - products[2][c][v]);
          const values even_b = products[3][c][v] + products[4][c][v];
          const values odd_b = B * (products[3][c][v] - products[4][c][v]);
          results[0] = start + products[0][c][v] + even_a + even_b;
          results[1] = start + odd_a + odd_b;
          results[2] = start + AA * even_a + BB * even_b;
          results[3] = start + AA * odd_a + BB * odd_b + products[5][c][v];
#else
          results[0] = start + products[0][c][v];
#endif
          const size_t to = (size_t)(first + c) * plane + image + here;
#pragma unroll
          for (int i = 0; i < ROWS; ++i) {
            const int y = top + i;
            if (y >= height) break;
            const size_t row = to + ROW_OF(y, margin, stride);
            values value = results[i];
            if (add) value += LOAD(added + row);
            if (relu) value = min(max(value, 0.0f), most);
            STORE(inside(value, here, width), out + row);
          }
          for (int i = 0; i < margin + 1; ++i) {
            if (top == 0) STORE((values)(0.0f), out + to + (size_t)i * stride);
            if (top + ROWS >= height) {
              STORE((values)(0.0f), out + to + ROW_OF(height + i, margin, stride));
            }
          }
        }
      }
    }
  }
}
