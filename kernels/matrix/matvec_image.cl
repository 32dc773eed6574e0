// matvec_image: out = A in for a pitched DIA matrix (matvec_looped.clh), four rows at a time, with
// x read through the texture cache.
//
// `image` holds x as float4 texels (CL_RGBA, CL_FLOAT) in rows of 2^WIDTH_LOG2: elements 4 t .. 4 t
// + 3 are texel t, at (t mod width, t div width); only whole image rows, `cached` elements, are
// filled. One work-item computes the four rows from 4 * its id on. What it needs of x for one
// offset lies in one texel or across two, in one of four alignments (offset mod 4, the same for all
// items), so that the four values are a constant swizzle of the two. Neighbouring offsets share
// texels: those in hand are kept, and a band of n consecutive offsets fetches about n / 4 + 1.
// Loads of the matrix are all that is left: 4 bytes for two operations.
//
// Groups whose rows reach outside the cached columns read x itself, with every column checked.
// -DWIDTH_LOG2.
#ifndef WIDTH_LOG2
#error "matvec_image needs WIDTH_LOG2"
#endif
#define ROWS 4
#define LANES 4
#include "matrix/matvec_lanes.clh"
#include "matrix/matvec_looped.clh"

__constant sampler_t kNearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

static float4 texel(__read_only image2d_t image, const long index) {
  return read_imagef(image, kNearest, (int2)(index & ((1 << WIDTH_LOG2) - 1), index >> WIDTH_LOG2));
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void matvec(DIAGONALS,
                                                                        __read_only image2d_t image,
                                                                        const ulong cached,
                                                                        VECTORS) {
  const long first = (long)get_group_id(0) * (GROUP * LANES);
  const long item = get_global_id(0);
  const long row = item * LANES;
  if (first + lowest >= 0 && first + GROUP * LANES + highest <= (long)cached) {
    __global const float* a = values + row;
    float4 sum = 0.0f;
    float4 left = 0.0f;
    float4 right = 0.0f;
    long held = LONG_MIN;  // `left` and `right` are texels item + held and the one after.
    for (uint d = 0; d < diagonals; ++d, a += pitch) {
      const long wanted = offsets[d] >> 2;
      if (wanted != held) {
        left = wanted == held + 1 ? right : texel(image, item + wanted);
        right = texel(image, item + wanted + 1);
        held = wanted;
      }
      const int shift = offsets[d] & 3;
      const float4 x = shift == 0   ? left
                       : shift == 1 ? (float4)(left.yzw, right.x)
                       : shift == 2 ? (float4)(left.zw, right.xy)
                                    : (float4)(left.w, right.xyz);
      sum += DIAGONAL_LANES(a) * x;
    }
    STORE_LANES(row, sum);
  } else {
    COMPUTE_BORDER(row, offsets, diagonals, pitch);
  }
}
