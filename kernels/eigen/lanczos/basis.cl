// basis: what a Krylov method does with its basis. The basis is column-major: vector c is elements
// [c * pitch, c * pitch + pitch) of `basis`, of which those from the matrix's rows to pitch are
// zero and stay zero, so that no loop has a tail (pitch is a multiple of 32). Dot products are
// summed in double, or in compensated pairs of floats where the device has none (accumulate.clh),
// in an order fixed by the macros: the same bits every time.
//
// GROUP  items in a work-group
// WIDTH  consecutive rows one item takes at a time (1, 4, 8): wide on CPUs, whose items run one
//        after the other; 1 or 4 on GPUs, where neighbouring items must read neighbouring words
// STEPS  such pieces one item takes: a work-group owns a chunk of GROUP * WIDTH * STEPS rows
// BLOCK  basis vectors taken at a time
// TILE   rows that basis_rotate keeps in local memory
//
// Classical Gram-Schmidt made twice: Giraud, Langou, Rozloznik and van den Eshof, "Rounding error
// analysis of the classical Gram-Schmidt orthogonalization process", 2005.
#if !defined(BLOCK) || !defined(TILE)
#error "basis.cl needs -DBLOCK -DTILE, beside what lanes.clh needs"
#endif

#include "common/lanes.clh"

// partials[c * groups + group]: the part of the dot product of basis vector c and w that lies in
// the group's chunk. Global size: (groups * GROUP, ceil(columns / BLOCK)).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void basis_dots(
    __global const float* restrict basis, const ulong pitch, const uint columns,
    __global const float* restrict w, __global ACC_T* restrict partials) {
  __local ACC_T scratch[GROUP];
  const uint group = get_group_id(0);
  const uint groups = get_num_groups(0);
  const uint first = get_group_id(1) * BLOCK;
  const uint count = min((uint)BLOCK, columns - first);
  ACC_LANES acc[BLOCK];
  for (uint c = 0; c < BLOCK; ++c) acc[c] = lanes_zero();
  for (uint step = 0; step < STEPS; ++step) {
    const ulong row = ROW(group, step);
    if (row < pitch) {
      const floatw value = LOADW(w + row);
      __global const float* column = basis + first * pitch + row;
      if (count == BLOCK) {
        for (uint c = 0; c < BLOCK; ++c)
          acc[c] = lanes_add_product(acc[c], LOADW(column + c * pitch), value);
      } else {
        for (uint c = 0; c < count; ++c)
          acc[c] = lanes_add_product(acc[c], LOADW(column + c * pitch), value);
      }
    }
  }
  for (uint c = 0; c < count; ++c) {
    const ACC_T sum = group_sum(lanes_value(acc[c]), scratch);
    if (get_local_id(0) == 0) partials[(ulong)(first + c) * groups + group] = sum;
  }
}

// sums[at + c] = the sum of partials[c * groups ...], one work-group a vector.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void basis_sum(
    __global const ACC_T* restrict partials, const uint groups, __global ACC_T* restrict sums,
    const uint at) {
  __local ACC_T scratch[GROUP];
  const uint c = get_group_id(0);
  ACC_T sum = acc_zero();
  for (uint g = get_local_id(0); g < groups; g += GROUP)
    sum = acc_join(sum, partials[(ulong)c * groups + g]);
  sum = group_sum(sum, scratch);
  if (get_local_id(0) == 0) sums[at + c] = sum;
}

// w -= sum over c of coefficients[at + c] * basis vector c; then partials[group] is the group's
// part of the squared norm of the new w.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void basis_update(
    __global const float* restrict basis, const ulong pitch, const uint columns,
    __global const ACC_T* restrict coefficients, const uint at, __global float* restrict w,
    __global ACC_T* restrict partials) {
  __local ACC_T scratch[GROUP];
  const uint group = get_group_id(0);
  // A block of vectors at a time over the whole chunk: on a CPU the chunk of w stays in its cache
  // and few streams are open; BLOCK is large on GPUs, which then touch w once.
  for (uint first = 0; first < columns; first += BLOCK) {
    const uint end = min(first + BLOCK, columns);
    for (uint step = 0; step < STEPS; ++step) {
      const ulong row = ROW(group, step);
      if (row < pitch) {
        floatw value = LOADW(w + row);
        for (uint c = first; c < end; ++c)
          value = fma(LOADW(basis + c * pitch + row), (floatw)(-acc_value(coefficients[at + c])),
                      value);
        STOREW(value, w + row);
      }
    }
  }
  ACC_LANES acc = lanes_zero();
  for (uint step = 0; step < STEPS; ++step) {
    const ulong row = ROW(group, step);
    if (row < pitch) {
      const floatw value = LOADW(w + row);
      acc = lanes_add_product(acc, value, value);
    }
  }
  const ACC_T sum = group_sum(lanes_value(acc), scratch);
  if (get_local_id(0) == 0) partials[group] = sum;
}

// basis vector `column` = copy = w / sqrt(norm2[at]), WIDTH rows an item; with a norm of zero both
// are zero.
__kernel void basis_append(__global float* restrict basis, const ulong pitch, const uint column,
                           __global const float* restrict w, __global float* restrict copy,
                           __global const ACC_T* restrict norm2, const uint at) {
  const ulong row = get_global_id(0) * (ulong)WIDTH;
  if (row >= pitch) return;
  const float squared = acc_value(norm2[at]);
  const float scale = squared > 0.0f ? 1.0f / sqrt(squared) : (squared == squared ? 0.0f : NAN);
  const floatw value = LOADW(w + row) * scale;
  STOREW(value, basis + column * pitch + row);
  STOREW(value, copy + row);
}

// out = factor * basis vector `column`, WIDTH rows an item. `out` may be that vector itself.
__kernel void basis_copy(__global const float* basis, const ulong pitch, const uint column,
                         const float factor, __global float* out, const ulong out_offset) {
  const ulong row = get_global_id(0) * (ulong)WIDTH;
  if (row >= pitch) return;
  STOREW(LOADW(basis + column * pitch + row) * factor, out + out_offset + row);
}

// In place: basis vector first + k becomes the sum over c < columns of
// rotation[c * stride + k] * basis vector first + c, for k < kept; eight vectors at a time, stride
// being kept rounded up to eights. One row an item; the item keeps the row's old values in local
// memory, where only it looks.
__kernel __attribute__((reqd_work_group_size(TILE, 1, 1))) void basis_rotate(
    __global float* restrict basis, const ulong pitch, const uint first, const uint columns,
    const uint kept, const uint stride, __global const float* restrict rotation,
    __local float* old) {
  const ulong row = get_global_id(0);
  const uint lid = get_local_id(0);
  if (row >= pitch) return;
  for (uint c = 0; c < columns; ++c) old[c * TILE + lid] = basis[(first + c) * pitch + row];
  for (uint k = 0; k < kept; k += 8) {
    float8 sum = 0.0f;
    for (uint c = 0; c < columns; ++c)
      sum = fma(vload8(0, rotation + c * stride + k), (float8)(old[c * TILE + lid]), sum);
    float sums[8];
    vstore8(sum, 0, sums);
    for (uint j = 0; j < min(8u, kept - k); ++j) basis[(first + k + j) * pitch + row] = sums[j];
  }
}

// w[row] = a fixed pseudo-random value in [-1, 1) that depends on row and seed alone, or 0 where
// mask is 0; one row an item. Rows from `rows` on are 0. The mixing function is Murmur3's finaliser
// (Appleby, public domain), twice.
__kernel void basis_random(__global float* restrict w, const ulong pitch, const ulong rows,
                           __global const float* restrict mask, const uint seed) {
  const ulong row = get_global_id(0);
  if (row >= pitch) return;
  uint h = (uint)row ^ (seed * 0x9e3779b9u) ^ ((uint)(row >> 32) * 0x7f4a7c15u);
  for (int round = 0; round < 2; ++round) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
  }
  const float value = (float)(h >> 8) * (2.0f / 16777216.0f) - 1.0f;
  w[row] = row < rows && mask[row] > 0.0f ? value : 0.0f;
}

// peaks[column * groups + group]: the entry of largest magnitude of basis vector `column` within
// the group's chunk, the first of equals. Global size: (groups * GROUP, columns).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void basis_peaks(
    __global const float* restrict basis, const ulong pitch, __global float* restrict peaks) {
  __local float values[GROUP];
  __local ulong rows[GROUP];
  const uint lid = get_local_id(0);
  const ulong chunk = (ulong)GROUP * WIDTH * STEPS;
  const ulong begin = get_group_id(0) * chunk;
  const ulong end = min(begin + chunk, pitch);
  __global const float* column = basis + get_group_id(1) * pitch;
  float peak = 0.0f;
  ulong at = pitch;
  for (ulong row = begin + lid; row < end; row += GROUP) {
    const float value = column[row];
    if (fabs(value) > fabs(peak)) {
      peak = value;
      at = row;
    }
  }
  values[lid] = peak;
  rows[lid] = at;
  for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < half_size) {
      const float other = values[lid + half_size];
      const float own = values[lid];
      if (fabs(other) > fabs(own) ||
          (fabs(other) == fabs(own) && rows[lid + half_size] < rows[lid])) {
        values[lid] = other;
        rows[lid] = rows[lid + half_size];
      }
    }
  }
  if (lid == 0) peaks[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = values[0];
}
