// level_degrees: what a multilevel solver needs to know of the square roots of the degrees on all
// of its grids, each of every other row and column of the one before: level l holds the elements of
// the finest grid whose row and column are multiples of 2^l. Of each level, and there of each of
// the images that lie `segment_pitch` elements apart, the sum of the squares and the number of
// those that are positive. Squares are summed in double or in compensated pairs (accumulate.clh),
// in an order that the image's size alone decides.
//
// -DGROUP, the work-items of a group, a power of 2.
#if !defined(GROUP)
#error "level_degrees needs GROUP"
#endif
#include "common/accumulate.clh"

// sums[0] and counts[0] = what the work-items of the group found, for work-item 0.
static void add_up(__local ACC_T* sums, __local uint* counts, const ACC_T sum, const uint count) {
  const uint lid = get_local_id(0);
  sums[lid] = sum;
  counts[lid] = count;
  for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < half_size) {
      sums[lid] = acc_join(sums[lid], sums[lid + half_size]);
      counts[lid] += counts[lid + half_size];
    }
  }
}

// Of the `chunk` elements of a group: squares[at] and counts[at], at = (level * images + image) *
// groups + group; 0 where the level has no more elements. Images have `width` x `height` pixels.
// Work-groups are (group, image, level).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void level_degrees_partial(
    __global const float* restrict sqrt_degree, const int width, const int height,
    const ulong segment_pitch, const ulong chunk, __global ACC_T* restrict squares,
    __global uint* restrict counts) {
  __local ACC_T sums[GROUP];
  __local uint positive[GROUP];
  const uint lid = get_local_id(0);
  const uint level = get_group_id(2);
  const ulong level_width = (((ulong)width - 1) >> level) + 1;
  const ulong elements = level_width * ((((ulong)height - 1) >> level) + 1);
  const ulong end = min((get_group_id(0) + 1) * chunk, elements);
  sqrt_degree += get_group_id(1) * segment_pitch;
  ACC_T sum = acc_zero();
  uint count = 0;
  for (ulong i = get_group_id(0) * chunk + lid; i < end; i += GROUP) {
    const ulong y = i / level_width;
    const float value = sqrt_degree[(y << level) * width + ((i - y * level_width) << level)];
    sum = acc_add_product(sum, value, value);
    count += value > 0.0f ? 1 : 0;
  }
  add_up(sums, positive, sum, count);
  if (lid != 0) return;
  const ulong at =
      (level * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
  squares[at] = sums[0];
  counts[at] = positive[0];
}

// 1 / sqrt(sum).
static inline float inverse_root(ACC_T sum) {
#ifdef DIACUT_FP64
  return (float)(1.0 / sqrt(sum));
#else
  // What float functions give, corrected once by Newton's iteration.
  const float root = 1.0f / sqrt(sum.high);
  const float square = root * root;
  const float rest =
      fma(-sum.high, square, 1.0f) - fma(sum.high, fma(root, root, -square), sum.low * square);
  const float corrected = fma(0.5f * rest, root, root);
  return sum.high > 0.0f && corrected < INFINITY ? corrected : root;
#endif
}

// scales[level * images + image] = 1 / the norm, infinite of no data, and positive[same] = the
// number, of `groups` groups each. Work-groups are (image, level).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void level_degrees_join(
    __global const ACC_T* restrict squares, __global const uint* restrict counts, const uint groups,
    __global float* restrict scales, __global uint* restrict positive) {
  __local ACC_T sums[GROUP];
  __local uint numbers[GROUP];
  const uint lid = get_local_id(0);
  const ulong at = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  ACC_T sum = acc_zero();
  uint count = 0;
  for (uint group = lid; group < groups; group += GROUP) {
    sum = acc_join(sum, squares[at * groups + group]);
    count += counts[at * groups + group];
  }
  add_up(sums, numbers, sum, count);
  if (lid != 0) return;
  scales[at] = inverse_root(sums[0]);
  positive[at] = numbers[0];
}
