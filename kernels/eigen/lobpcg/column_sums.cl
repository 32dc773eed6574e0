// column_sums: the sums of the columns of a block, first over groups of elements, then over each
// segment (segments.clh).
//
// -DFLOATS and -DGROUP: see column_sums.clh.
#include "common/accumulate.clh"
#include "eigen/lobpcg/column_sums.clh"
#include "eigen/lobpcg/segments.clh"
#include "matrix/block.clh"

// The sums of the columns of x over groups.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void column_sums(
    __global const Set* restrict x, const ulong rows, const ulong segment_pitch, const ulong chunk,
    const uint groups, __global const int* restrict active, __global ACC_T* restrict partials) {
#define ELEMENT(at, part) part += x[at];
  COLUMN_SUMS(ELEMENT)
}

// totals[segment * COLUMNS + c]: the sum over the segment's groups of partials[group * COLUMNS +
// c]. A work-group does one column of a segment: (c, segment).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void column_totals(
    __global const ACC_T* restrict partials, const uint groups, __global ACC_T* restrict totals) {
  __local ACC_T scratch[GROUP];
  const uint lid = get_local_id(0);
  const ulong segment = get_group_id(1);
  ACC_T sum = acc_zero();
  for (uint g = lid; g < groups; g += GROUP)
    sum = acc_join(sum, partials[(segment * groups + g) * COLUMNS + get_group_id(0)]);
  scratch[lid] = sum;
  for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < half_size) scratch[lid] = acc_join(scratch[lid], scratch[lid + half_size]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0) totals[segment * COLUMNS + get_group_id(0)] = scratch[0];
}
