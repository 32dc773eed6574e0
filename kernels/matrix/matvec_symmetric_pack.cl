// matvec_symmetric_pack: the compressed symmetric form (matvec_symmetric.clh) of a symmetric matrix
// in pitched DIA form, values[d * pitch + row], over the pixels of an image: pixel (x, y) is row y
// * vector_stride + x, and neighbour k is diagonal UPPER + 1 + k, row_offsets[k] rows away. STRIDE
// is an argument: one program serves all sizes.
//
// matvec_symmetric_pack: work-item (x, y + RADIUS, k) writes one weight, rounded to nearest: that
// of pixel (x, y) and its neighbour k, or zero where x is not in the image, or y above or below it.
//
// Weights lie in [0, 1.9]; what is less than half of the least that BITS hold becomes zero.
//
// With UNSCALED the matrix is S W S, S = 1 / roots (0 where that is 0), and W is what is stored.
//
// matvec_symmetric_diagonal: work-item (x, y) writes the main diagonal as floats and, with
// UNSCALED, `scale`. Where there are roots, the diagonal makes up for the rounding of the weights,
// however coarse it is: with UNSCALED it is roots^2 less the sum of the weights as they were
// rounded, so that S M S roots = roots still; with ROOTED, whatever keeps M roots = roots.
#include "common/accumulate.clh"
#include "matrix/matvec_symmetric.clh"

__kernel void matvec_symmetric_pack(__global const float* restrict values,
                                    __global const long* restrict row_offsets,
#ifdef UNSCALED
                                    __global const float* restrict roots,
#endif
                                    const int width, const int height, const int vector_stride,
                                    const ulong pitch, const ulong stride,
                                    __global WEIGHT_T* restrict upper) {
  const int x = get_global_id(0);
  const int y = (int)get_global_id(1) - RADIUS;
  const int k = get_global_id(2);
  float weight = 0.0f;
  if (x < width && y >= 0 && y < height) {
    const ulong row = (ulong)y * vector_stride + x;
    weight = values[(UPPER + 1 + k) * pitch + row];
#ifdef UNSCALED
    if (weight != 0.0f) weight *= roots[row] * roots[row + row_offsets[k]];
#endif
  }
  upper[WEIGHT_AT(y, k) + x] = encode_weight(weight);
}

__kernel void matvec_symmetric_diagonal(__global const float* restrict values,
#if defined(UNSCALED) || defined(ROOTED)
                                        __global const float* restrict roots,
#endif
#ifdef UNSCALED
                                        __global float* restrict scale,
#endif
                                        const int width, const int height, const int vector_stride,
                                        const ulong pitch, const ulong stride,
                                        __global const WEIGHT_T* restrict upper,
                                        __global float* restrict main_diagonal) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= vector_stride) return;
  const ulong row = (ulong)y * vector_stride + x;
#if defined(UNSCALED) || defined(ROOTED)
  if (x >= width) {
    main_diagonal[row] = 0.0f;
#ifdef UNSCALED
    scale[row] = 0.0f;
#endif
    return;
  }
  const float root = roots[row];
#ifdef UNSCALED
  ACC_T rest = acc_add_product(acc_zero(), root, root);
#define TAKE(weight, other) rest = acc_add(rest, -(weight))
#else
  ACC_T rest = acc_add(acc_zero(), root);
#define TAKE(weight, other) rest = acc_add_product(rest, -(weight), roots[other])
#endif
  for (int dy = 0; dy <= RADIUS; ++dy) {
    for (int dx = dy == 0 ? 1 : -kReach[dy]; dx <= kReach[dy]; ++dx) {
      const int k = kFirst[dy] + dx - (dy == 0 ? 1 : -kReach[dy]);
      const long away = (long)dy * vector_stride + dx;
      if (x + dx >= 0 && x + dx < width && y + dy < height)
        TAKE(decode_weight(upper[WEIGHT_AT(y, k) + x]), row + away);
      if (x - dx >= 0 && x - dx < width && y - dy >= 0)
        TAKE(decode_weight(upper[WEIGHT_AT(y - dy, k) + x - dx]), row - away);
    }
  }
#ifdef UNSCALED
  main_diagonal[row] = acc_value(rest);
  scale[row] = root > 0.0f ? 1.0f / root : 0.0f;
#else
  main_diagonal[row] = root > 0.0f ? (float)acc_value(rest) / root : 0.0f;
#endif
#else
  main_diagonal[row] = x < width ? values[UPPER * pitch + row] : 0.0f;
#endif
}
