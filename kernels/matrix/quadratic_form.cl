// quadratic_form: for COLUMNS vectors z at once, the sum over i < j of
//
//   a_ij s_i s_j (z_i / s_i - z_j / s_j)^2
//
// which is the Rayleigh quotient of z with the normalized Laplacian I - A, without the cancellation
// of 1 - z'Az (Shi and Malik 2000, eq. 7). A is symmetric, in DIA form, diagonal-major with
// `pitch`; the loop runs over its upper diagonals, given as pairs (diagonal, offset > 0). An item
// takes WIDTH rows at a time, as lanes.clh deals them; differences are squared and summed in
// double, or in compensated floats. `s` and the vectors y are long enough to be read, as zeros, up
// to the largest offset past `pitch`.
#if !defined(COLUMNS)
#error "quadratic_form.cl needs -DCOLUMNS, beside what lanes.clh needs"
#endif

#include "common/lanes.clh"

// y[c * y_pitch + row] = z[(first + c) * pitch + row] / s[row], 0 where s is 0. Work-item (row, c).
__kernel void quadratic_form_scale(__global const float* restrict z, const ulong pitch,
                                   const ulong first, __global const float* restrict s,
                                   const ulong rows, __global float* restrict y,
                                   const ulong y_pitch) {
  const ulong row = get_global_id(0);
  const ulong c = get_global_id(1);
  if (row >= rows) return;
  const float scale = s[row];
  y[c * y_pitch + row] = scale > 0.0f ? z[(first + c) * pitch + row] / scale : 0.0f;
}

// partials[c * groups + group]: the group's part of vector c's sum.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void quadratic_form(
    __global const float* restrict a, const ulong pitch, __global const int2* restrict upper,
    const uint upper_count, __global const float* restrict s, __global const float* restrict y,
    const ulong y_pitch, __global ACC_T* restrict partials) {
  __local ACC_T scratch[GROUP];
  ACC_LANES acc[COLUMNS];
  for (uint c = 0; c < COLUMNS; ++c) acc[c] = lanes_zero();
  for (uint step = 0; step < STEPS; ++step) {
    const ulong row = ROW(get_group_id(0), step);
    if (row < pitch) {
      floatw own[COLUMNS];
      for (uint c = 0; c < COLUMNS; ++c) own[c] = LOADW(y + c * y_pitch + row);
      const floatw own_scale = LOADW(s + row);
      for (uint d = 0; d < upper_count; ++d) {
        const ulong other = row + (ulong)upper[d].y;
        const floatw weight =
            LOADW(a + (ulong)upper[d].x * pitch + row) * own_scale * LOADW(s + other);
        for (uint c = 0; c < COLUMNS; ++c) {
          const floatw difference = own[c] - LOADW(y + c * y_pitch + other);
          acc[c] = lanes_add_product(acc[c], weight * difference, difference);
        }
      }
    }
  }
  for (uint c = 0; c < COLUMNS; ++c) {
    const ACC_T sum = group_sum(lanes_value(acc[c]), scratch);
    if (get_local_id(0) == 0) partials[c * (ulong)get_num_groups(0) + get_group_id(0)] = sum;
  }
}
