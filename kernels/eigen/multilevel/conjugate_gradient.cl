// conjugate_gradient: the vector operations of the conjugate gradient method over blocks of
// vectors, one linear system a column (lib/eigen/multilevel/conjugate_gradient.hpp).
//
// -DFLOATS and -DGROUP: see column_sums.clh.
#include "common/accumulate.clh"
#include "eigen/lobpcg/column_sums.clh"
#include "eigen/lobpcg/segments.clh"
#include "matrix/block.clh"

// The dot products of the columns of a and b, summed over groups.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void cg_products(
    __global const Set* restrict a, const ulong rows, const ulong segment_pitch, const ulong chunk,
    const uint groups, __global const int* restrict active, __global const Set* restrict b,
    __global ACC_T* restrict partials) {
#define PRODUCT(at, part) part = fma(a[at], b[at], part);
  COLUMN_SUMS(PRODUCT)
}

// x += alpha p and r -= alpha q, with an alpha for each column. A work-item does one set.
__kernel void cg_step(__global const Set* restrict alpha, __global const Set* restrict p,
                      __global const Set* restrict q, const ulong size, __global Set* restrict x,
                      __global Set* restrict r) {
  const ulong at = get_global_id(0);
  if (at >= size) return;
  const Set factor = alpha[at % SETS];
  x[at] = fma(factor, p[at], x[at]);
  r[at] = fma(-factor, q[at], r[at]);
}

// p = z + beta p, with a beta for each column. A work-item does one set.
__kernel void cg_direction(__global const Set* restrict beta, __global const Set* restrict z,
                           const ulong size, __global Set* restrict p) {
  const ulong at = get_global_id(0);
  if (at < size) p[at] = fma(beta[at % SETS], p[at], z[at]);
}
