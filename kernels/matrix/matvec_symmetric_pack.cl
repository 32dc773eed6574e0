// matvec_symmetric_pack: the compressed symmetric form (matvec_symmetric.clh) of a symmetric matrix
// A in pitched DIA form, values[d * pitch + row], over the pixels of an image: pixel (x, y) is row
// y * width + x, and neighbour k is diagonal UPPER + 1 + k. STRIDE is an argument: one program
// serves all sizes.
//
// The compressed matrix M has the weights of A, or with SCALED those of S^-1 A S^-1, S = 1 / roots
// (0 where that is 0), rounded to nearest; less than half of the least that BITS hold becomes zero.
// Weights lie in [0, 1.9].
//
// matvec_symmetric_pack: work-item (x, y + RADIUS, k) writes the weight of pixel (x, y) and its
// neighbour k, or zero where x is not in the image, or y above or below it.
// matvec_symmetric_diagonal: work-item (x, y) writes element (x, y) of the main diagonal of M as a
// float, after the weights, however coarse these are:
//
//   -DOWN     that of A
//   -DROOTED  whatever makes M roots = roots
//   -DKEPT    whatever makes M roots = A roots; 0 where the root is 0
//   -DSCALED  roots^2 less the sum of the rounded weights, which makes S M S roots = roots; it
//             writes `scale`, S, as well
#include "common/accumulate.clh"
#include "matrix/matvec_symmetric.clh"

#define PACK_PARAMETERS                                                                         \
  __global const float *restrict values, __global const float *restrict roots, const int width, \
      const int height, const ulong pitch, const ulong stride

__kernel void matvec_symmetric_pack(PACK_PARAMETERS, __global WEIGHT_T* restrict upper) {
  const int x = get_global_id(0);
  const int y = (int)get_global_id(1) - RADIUS;
  const int k = get_global_id(2);
  float weight = 0.0f;
  if (x < width && y >= 0 && y < height) {
    const ulong row = (ulong)y * width + x;
    weight = values[(UPPER + 1 + k) * pitch + row];
#ifdef SCALED
    int dy = RADIUS;
    while (k < kFirst[dy]) --dy;
    const int dx = k - kFirst[dy] + (dy == 0 ? 1 : -kReach[dy]);
    if (weight != 0.0f) weight *= roots[row] * roots[row + (long)dy * width + dx];
#endif
  }
  upper[WEIGHT_AT(y, k) + x] = encode_weight(weight);
}

// TAKE(weight, row, k, from) for each neighbour of pixel (x, y), earlier and later, that the image
// has: the pixel at `row`. The pair is neighbour k of the pixel at `from`.
#define FOR_NEIGHBOURS(TAKE)                                                                  \
  for (int dy = 0; dy <= RADIUS; ++dy) {                                                      \
    for (int dx = dy == 0 ? 1 : -kReach[dy]; dx <= kReach[dy]; ++dx) {                        \
      const int k = kFirst[dy] + dx - (dy == 0 ? 1 : -kReach[dy]);                            \
      const long away = (long)dy * width + dx;                                                \
      if (x + dx >= 0 && x + dx < width && y + dy < height)                                   \
        TAKE(decode_weight(upper[WEIGHT_AT(y, k) + x]), row + away, k, row);                  \
      if (x - dx >= 0 && x - dx < width && y - dy >= 0)                                       \
        TAKE(decode_weight(upper[WEIGHT_AT(y - dy, k) + x - dx]), row - away, k, row - away); \
    }                                                                                         \
  }

// The sum that a main diagonal follows from: what it begins with, what a neighbour adds, and the
// main diagonal where the root is not 0; without data it is 0.
#if defined(ROOTED)
#define BEGIN(root) acc_add(acc_zero(), root)
#define TAKE(weight, other, k, from) sum = acc_add_product(sum, -(weight), roots[other])
#define END(sum, root) ((float)acc_value(sum) / root)
#elif defined(KEPT)
#define BEGIN(root) acc_zero()
#define TAKE(weight, other, k, from) \
  sum = acc_add_product(sum, values[(UPPER + 1 + k) * pitch + from] - (weight), roots[other])
#define END(sum, root) (values[UPPER * pitch + row] + (float)acc_value(sum) / root)
#elif defined(SCALED)
#define BEGIN(root) acc_add_product(acc_zero(), root, root)
#define TAKE(weight, other, k, from) sum = acc_add(sum, -(weight))
#define END(sum, root) acc_value(sum)
#endif

__kernel void matvec_symmetric_diagonal(PACK_PARAMETERS, __global const WEIGHT_T* restrict upper,
                                        __global float* restrict scale,
                                        __global float* restrict main_diagonal) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width) return;
  const ulong row = (ulong)y * width + x;
#ifdef OWN
  main_diagonal[row] = values[UPPER * pitch + row];
#else
  const float root = roots[row];
  ACC_T sum = BEGIN(root);
  if (root != 0.0f) {
    FOR_NEIGHBOURS(TAKE)
  }
  main_diagonal[row] = root != 0.0f ? END(sum, root) : 0.0f;
#ifdef SCALED
  scale[row] = root > 0.0f ? 1.0f / root : 0.0f;
#endif
#endif
}
