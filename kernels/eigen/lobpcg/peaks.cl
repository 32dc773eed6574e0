// peaks: the entry of largest magnitude of each column of a block, the first of equals, over each
// segment (segments.clh). -DGROUP: work-items of a group.
#if !defined(GROUP)
#error "peaks needs GROUP, and the macros of block.clh"
#endif
#include "eigen/lobpcg/segments.clh"
#include "matrix/block.clh"

// peaks[group * COLUMNS + c]: the peak of column c over the elements of the group. Work-items: (c,
// group of all segments).
__kernel void group_peaks(__global const float* restrict x, const ulong rows,
                          const ulong segment_pitch, const ulong chunk, const uint groups,
                          __global const int* restrict active, __global float* restrict peaks) {
  const uint c = get_global_id(0);
  if (c >= COLUMNS) return;
  const ulong group = get_global_id(1);
  const ulong end = SEGMENT_END(group);
  float peak = 0.0f;
  for (ulong row = SEGMENT_BEGIN(group); row < end; ++row) {
    const float value = x[row * COLUMNS + c];
    if (fabs(value) > fabs(peak)) peak = value;
  }
  peaks[group * COLUMNS + c] = peak;
}

// found[segment * COLUMNS + c]: the peak of column c over the segment's groups. Work-groups are (c,
// segment).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void segment_peaks(
    __global const float* restrict peaks, const uint groups, __global float* restrict found) {
  __local float scratch[GROUP];
  const uint lid = get_local_id(0);
  peaks += get_group_id(1) * groups * COLUMNS + get_group_id(0);
  // Items take neighbouring groups, so that the first of equals is the first item's.
  const uint each = (groups + GROUP - 1) / GROUP;
  float peak = 0.0f;
  for (uint group = lid * each; group < min((lid + 1) * each, groups); ++group) {
    const float value = peaks[group * COLUMNS];
    if (fabs(value) > fabs(peak)) peak = value;
  }
  scratch[lid] = peak;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid != 0) return;
  for (uint i = 1; i < GROUP; ++i) {
    if (fabs(scratch[i]) > fabs(peak)) peak = scratch[i];
  }
  found[get_group_id(1) * COLUMNS + get_group_id(0)] = peak;
}
