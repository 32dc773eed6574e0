// matvec_symmetric_pack: the compressed symmetric form (matvec_symmetric.clh) of a symmetric matrix
// A in pitched DIA form, values[d * pitch + row], over the pixels of an image: pixel (x, y) is row
// y * vector_stride + x, and neighbour k is diagonal UPPER + 1 + k, row_offsets[k] rows away.
// STRIDE is an argument: one program serves all sizes.
//
// The compressed matrix M has the weights of A, rounded to nearest; less than half of the least
// that BITS hold becomes zero. Weights lie in [0, 1.9]. Work-item (x, y + RADIUS, k) writes the
// weight of pixel (x, y) and its neighbour k, or zero where x is not in the image, or y above or
// below it:
//
//   matvec_symmetric_pack           the weight in A
//   matvec_symmetric_pack_unscaled  the weight in S^-1 A S^-1, S = 1 / roots (0 where that is 0)
//
// Work-item (x, y) writes element (x, y) of the main diagonal of M as a float, after the weights:
//
//   matvec_symmetric_diagonal           that of A
//   matvec_symmetric_diagonal_rooted    whatever makes M roots = roots, however coarse the weights
//   matvec_symmetric_diagonal_kept      whatever makes M roots = A roots; 0 where the root is 0
//   matvec_symmetric_diagonal_unscaled  roots^2 less the sum of the rounded weights, which makes
//                                       S M S roots = roots; it writes `scale`, S, as well
#include "common/accumulate.clh"
#include "matrix/matvec_symmetric.clh"

#define PACK_PARAMETERS \
  const int width, const int height, const int vector_stride, const ulong pitch, const ulong stride

__kernel void matvec_symmetric_pack(__global const float* restrict values, PACK_PARAMETERS,
                                    __global WEIGHT_T* restrict upper) {
  const int x = get_global_id(0);
  const int y = (int)get_global_id(1) - RADIUS;
  const int k = get_global_id(2);
  float weight = 0.0f;
  if (x < width && y >= 0 && y < height)
    weight = values[(UPPER + 1 + k) * pitch + (ulong)y * vector_stride + x];
  upper[WEIGHT_AT(y, k) + x] = encode_weight(weight);
}

__kernel void matvec_symmetric_pack_unscaled(__global const float* restrict values,
                                             __global const long* restrict row_offsets,
                                             __global const float* restrict roots, PACK_PARAMETERS,
                                             __global WEIGHT_T* restrict upper) {
  const int x = get_global_id(0);
  const int y = (int)get_global_id(1) - RADIUS;
  const int k = get_global_id(2);
  float weight = 0.0f;
  if (x < width && y >= 0 && y < height) {
    const ulong row = (ulong)y * vector_stride + x;
    weight = values[(UPPER + 1 + k) * pitch + row];
    if (weight != 0.0f) weight *= roots[row] * roots[row + row_offsets[k]];
  }
  upper[WEIGHT_AT(y, k) + x] = encode_weight(weight);
}

__kernel void matvec_symmetric_diagonal(__global const float* restrict values, PACK_PARAMETERS,
                                        __global float* restrict main_diagonal) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= vector_stride) return;
  const ulong row = (ulong)y * vector_stride + x;
  main_diagonal[row] = x < width ? values[UPPER * pitch + row] : 0.0f;
}

// TAKE(weight, row, k, from) for each neighbour of pixel (x, y), earlier and later, that the image
// has: the pixel at `row`. The pair is neighbour k of the pixel at `from`.
#define FOR_NEIGHBOURS(TAKE)                                                                  \
  for (int dy = 0; dy <= RADIUS; ++dy) {                                                      \
    for (int dx = dy == 0 ? 1 : -kReach[dy]; dx <= kReach[dy]; ++dx) {                        \
      const int k = kFirst[dy] + dx - (dy == 0 ? 1 : -kReach[dy]);                            \
      const long away = (long)dy * vector_stride + dx;                                        \
      if (x + dx >= 0 && x + dx < width && y + dy < height)                                   \
        TAKE(decode_weight(upper[WEIGHT_AT(y, k) + x]), row + away, k, row);                  \
      if (x - dx >= 0 && x - dx < width && y - dy >= 0)                                       \
        TAKE(decode_weight(upper[WEIGHT_AT(y - dy, k) + x - dx]), row - away, k, row - away); \
    }                                                                                         \
  }

__kernel void matvec_symmetric_diagonal_rooted(__global const float* restrict roots,
                                               __global const WEIGHT_T* restrict upper,
                                               PACK_PARAMETERS,
                                               __global float* restrict main_diagonal) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= vector_stride) return;
  const ulong row = (ulong)y * vector_stride + x;
  if (x >= width) {
    main_diagonal[row] = 0.0f;
    return;
  }
  const float root = roots[row];
  ACC_T rest = acc_add(acc_zero(), root);
#define TAKE(weight, other, k, from) rest = acc_add_product(rest, -(weight), roots[other])
  FOR_NEIGHBOURS(TAKE)
#undef TAKE
  main_diagonal[row] = root > 0.0f ? (float)acc_value(rest) / root : 0.0f;
}

__kernel void matvec_symmetric_diagonal_kept(__global const float* restrict values,
                                             __global const float* restrict roots,
                                             __global const WEIGHT_T* restrict upper,
                                             PACK_PARAMETERS,
                                             __global float* restrict main_diagonal) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= vector_stride) return;
  const ulong row = (ulong)y * vector_stride + x;
  const float root = x < width ? roots[row] : 0.0f;
  ACC_T lost = acc_zero();
#define TAKE(weight, other, k, from) \
  lost = acc_add_product(lost, values[(UPPER + 1 + k) * pitch + from] - (weight), roots[other])
  if (root != 0.0f) {
    FOR_NEIGHBOURS(TAKE)
  }
#undef TAKE
  main_diagonal[row] =
      root != 0.0f ? values[UPPER * pitch + row] + (float)acc_value(lost) / root : 0.0f;
}

__kernel void matvec_symmetric_diagonal_unscaled(__global const float* restrict roots,
                                                 __global const WEIGHT_T* restrict upper,
                                                 __global float* restrict scale, PACK_PARAMETERS,
                                                 __global float* restrict main_diagonal) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= vector_stride) return;
  const ulong row = (ulong)y * vector_stride + x;
  if (x >= width) {
    main_diagonal[row] = 0.0f;
    scale[row] = 0.0f;
    return;
  }
  const float root = roots[row];
  ACC_T rest = acc_add_product(acc_zero(), root, root);
#define TAKE(weight, other, k, from) rest = acc_add(rest, -(weight))
  FOR_NEIGHBOURS(TAKE)
#undef TAKE
  main_diagonal[row] = acc_value(rest);
  scale[row] = root > 0.0f ? 1.0f / root : 0.0f;
}
