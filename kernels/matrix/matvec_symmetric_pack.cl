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
//   matvec_symmetric_diagonal_kept      whatever makes M roots = A roots; 0 where the root is 0;
//                                       RUN pixels of an image row, with -DRUN
//   matvec_symmetric_diagonal_unscaled  roots^2 less the sum of the rounded weights, which makes
//                                       S M S roots = roots; it writes `scale`, S, as well
#ifndef RUN
#define RUN 1
#endif
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

static float diagonal_kept(__global const float* values, __global const float* roots,
                           __global const WEIGHT_T* upper, PACK_PARAMETERS, const int x,
                           const int y) {
  const ulong row = (ulong)y * vector_stride + x;
  const float root = x < width ? roots[row] : 0.0f;
  if (root == 0.0f) return 0.0f;
  ACC_T lost = acc_zero();
#define TAKE(weight, other, k, from) \
  lost = acc_add_product(lost, values[(UPPER + 1 + k) * pitch + from] - (weight), roots[other])
  FOR_NEIGHBOURS(TAKE)
#undef TAKE
  return values[UPPER * pitch + row] + (float)acc_value(lost) / root;
}

#if RUN == 16 && BITS < 32 && defined(DIACUT_FP64)
// A member of a packed structure that is not aligned is read by one load; compilers take vload
// apart.
typedef struct __attribute__((packed)) {
  WEIGHT16_T value;
} codes16;
#define WEIGHTS16(p) \
  (as_float16(convert_uint16(((__global const codes16*)(p))->value) << MANTISSA_SHIFT) * UNSCALE)
#endif

// A work-item computes RUN pixels of an image row, 1 or, at once where all of them have all
// neighbours, 16.
__kernel void matvec_symmetric_diagonal_kept(__global const float* restrict values,
                                             __global const float* restrict roots,
                                             __global const WEIGHT_T* restrict upper,
                                             PACK_PARAMETERS,
                                             __global float* restrict main_diagonal) {
  const int first = get_global_id(0) * RUN;
  const int y = get_global_id(1);
  const ulong row = (ulong)y * vector_stride + first;
#if RUN == 16 && BITS < 32 && defined(DIACUT_FP64)
  if (first >= RADIUS && first + RUN + RADIUS <= width && y >= RADIUS && y + RADIUS < height) {
    double8 lost[2] = {(double8)(0.0), (double8)(0.0)};
#define TAKE(weights, other, k, from)                                                         \
  {                                                                                           \
    const float16 part =                                                                      \
        vload16(0, values + (UPPER + 1 + k) * pitch + (from)) - WEIGHTS16(upper + (weights)); \
    const float16 root = vload16(0, roots + (other));                                         \
    lost[0] += convert_double8(part.lo) * convert_double8(root.lo);                           \
    lost[1] += convert_double8(part.hi) * convert_double8(root.hi);                           \
  }
    for (int dy = 0; dy <= RADIUS; ++dy) {
      for (int dx = dy == 0 ? 1 : -kReach[dy]; dx <= kReach[dy]; ++dx) {
        const int k = kFirst[dy] + dx - (dy == 0 ? 1 : -kReach[dy]);
        const long away = (long)dy * vector_stride + dx;
        TAKE(WEIGHT_AT(y, k) + first, row + away, k, row);
        TAKE(WEIGHT_AT(y - dy, k) + first - dx, row - away, k, row - away);
      }
    }
#undef TAKE
    const float16 root = vload16(0, roots + row);
    const float16 sum = (float16)(convert_float8(lost[0]), convert_float8(lost[1]));
    const float16 kept = vload16(0, values + UPPER * pitch + row) + sum / root;
    vstore16(select(kept, (float16)(0.0f), root == 0.0f), 0, main_diagonal + row);
    return;
  }
#endif
  for (int x = first; x < min(first + RUN, vector_stride); ++x)
    main_diagonal[row + (x - first)] =
        diagonal_kept(values, roots, upper, width, height, vector_stride, pitch, stride, x, y);
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
