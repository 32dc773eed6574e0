// Fills and copies of buffers, in place of the driver's own, which nobody counts.
//
// -DRUNS: a work-item has a run of neighbouring elements, for CPUs; else every n-th of n items'.
#ifdef RUNS
#define EACH_ELEMENT(i, count)                                                   \
  for (ulong i = (count)*get_global_id(0) / get_global_size(0),                  \
             end_of_run = (count) * (get_global_id(0) + 1) / get_global_size(0); \
       i < end_of_run; ++i)
#else
#define EACH_ELEMENT(i, count) \
  for (ulong i = get_global_id(0); i < (count); i += get_global_size(0))
#endif

/// Sets the bytes from `begin` to `end`. Byte k of each 16 that are aligned is that of `pattern`.
__kernel void fill_contents(__global uint4* restrict to, const ulong begin, const ulong end,
                            const uint4 pattern) {
  const ulong first = (begin + 15) / 16;
  const ulong last = end / 16;
  if (first < last) {
    __global uint4* const whole = to + first;
    EACH_ELEMENT(i, last - first) whole[i] = pattern;
  }
  if (get_global_id(0) == 0) {
    const uint words[4] = {pattern.x, pattern.y, pattern.z, pattern.w};
    __global uchar* const bytes = (__global uchar*)to;
    for (ulong i = begin; i < min(first * 16, end); ++i) {
      bytes[i] = words[i / 4 % 4] >> i % 4 * 8;
    }
    for (ulong i = max(last * 16, begin); i < end; ++i) bytes[i] = words[i / 4 % 4] >> i % 4 * 8;
  }
}

/// Copies `count` elements, which are words, or bytes where not all is a whole number of words.
__kernel void copy_words(__global const uint* restrict from, const ulong from_first,
                         __global uint* restrict to, const ulong to_first, const ulong count) {
  __global const uint* const source = from + from_first;
  __global uint* const target = to + to_first;
  EACH_ELEMENT(i, count) target[i] = source[i];
}

__kernel void copy_bytes(__global const uchar* restrict from, const ulong from_first,
                         __global uchar* restrict to, const ulong to_first, const ulong count) {
  __global const uchar* const source = from + from_first;
  __global uchar* const target = to + to_first;
  EACH_ELEMENT(i, count) target[i] = source[i];
}
