// conjugate_gradient: the vector operations of the conjugate gradient method over blocks of
// vectors, one linear system a column (lib/solver/eigen/multilevel/conjugate_gradient.hpp).
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

// a / b, or 0 where b is not positive: such a column is solved.
static float quotient(const ACC_T a, const ACC_T b) {
#ifdef DIACUT_FP64
  return b > 0.0 ? (float)(a / b) : 0.0f;
#else
  return acc_value(b) > 0.0f ? acc_value(a) / acc_value(b) : 0.0f;
#endif
}

// alpha = rz / pq for each column, pq being the sum of the groups' `partials`. A work-group does
// one column.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void cg_alpha(
    __global const ACC_T* restrict partials, const uint groups, __global const ACC_T* restrict rz,
    __global float* restrict alpha) {
  __local ACC_T scratch[GROUP];
  const ACC_T pq = column_total(partials, groups, scratch);
  const uint column = get_group_id(0);
  if (get_local_id(0) == 0) alpha[column] = quotient(rz[column], pq);
}

// beta = the new rz / the old one for each column; `rz` becomes the new one, the sum of the groups'
// `partials`. A work-group does one column.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void cg_beta(
    __global const ACC_T* restrict partials, const uint groups, __global ACC_T* restrict rz,
    __global float* restrict beta) {
  __local ACC_T scratch[GROUP];
  const ACC_T next = column_total(partials, groups, scratch);
  const uint column = get_group_id(0);
  if (get_local_id(0) != 0) return;
  beta[column] = quotient(next, rz[column]);
  rz[column] = next;
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
