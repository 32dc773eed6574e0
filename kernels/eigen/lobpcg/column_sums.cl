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
  const ulong segment = get_group_id(1);
  const ACC_T sum = column_total(partials + segment * groups * COLUMNS, groups, scratch);
  if (get_local_id(0) == 0) totals[segment * COLUMNS + get_group_id(0)] = sum;
}
