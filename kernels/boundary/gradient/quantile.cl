// quantile: the rank-th smallest of many non-negative floats, exactly, without sorting. Each of
// four passes finds eight bits, from the highest on, of its bit pattern; bit patterns of
// non-negative floats, taken as integers, are ordered as the floats are (Knuth, The Art of Computer
// Programming, volume 3, 5.2.5, radix exchange, for one rank). Integer counts only, so the order of
// the atomics changes nothing.
//
// state[0]: the bits found so far, the highest first; after the fourth pass the float itself.
// state[1]: the rank, from 1, among those that begin with these bits. counts: 256, zero at first.
//
// quantile_count: every work-item counts values of pixels with data that begin with the bits found,
// by their next eight bits. Pixel (x, y) has the value values[y * width + x], and data where
// valid[y * stride + x] is not 0.
// Groups of any size; items along one dimension share the rows.
__kernel void quantile_count(__global const float* restrict values,
                             __global const uchar* restrict valid,
                             __global const uint* restrict state, __global uint* counts,
                             const int width, const int height, const int stride, const int pass) {
  __local uint here[256];
  for (int i = (int)get_local_id(0); i < 256; i += (int)get_local_size(0)) here[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int shift = 24 - 8 * pass;
  for (int y = (int)get_group_id(0); y < height; y += (int)get_num_groups(0)) {
    for (int x = (int)get_local_id(0); x < width; x += (int)get_local_size(0)) {
      if (valid[(size_t)y * stride + x] == 0) continue;
      const uint bits = as_uint(values[(size_t)y * width + x]);
      // In pass 0 no bits are found yet, and a shift by 32 would shift by 0.
      if (pass > 0 && (bits >> (shift + 8)) != state[0]) continue;
      atomic_inc(&here[(bits >> shift) & 255u]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = (int)get_local_id(0); i < 256; i += (int)get_local_size(0)) {
    if (here[i] != 0) atomic_add(&counts[i], here[i]);
  }
}

// quantile_select, launched with one work-group: finds the next eight bits from the counts, and
// clears the counts for the next pass. The work-items load the counts together; the first one adds
// them up.
__kernel void quantile_select(__global uint* state, __global uint* counts) {
  __local uint here[256];
  for (int i = (int)get_local_id(0); i < 256; i += (int)get_local_size(0)) {
    here[i] = counts[i];
    counts[i] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) != 0) return;
  uint rank = state[1];
  uint digit = 0;
  while (digit < 255 && here[digit] < rank) {
    rank -= here[digit];
    ++digit;
  }
  state[0] = (state[0] << 8) | digit;
  state[1] = rank;
}
