// projection: W -= X diag(X'X)^-1 X'W for blocks X of COLUMNS columns and W of
// `width` columns. A column of X that is 0 takes nothing. For each segment (segments.clh) `sums`
// holds, as tile_totals leaves them, all tiles of X'W and then the tiles on the diagonal of X'X.
//
// -DTILE, columns of a tile; -DROWS, elements that a work-group takes; -DGROUP, its work-items.
#if !defined(TILE) || !defined(ROWS) || !defined(GROUP)
#error "projection needs TILE, ROWS and GROUP, and the macros of block.clh"
#endif
#include "common/accumulate.clh"
#include "matrix/block.clh"

// A work-group takes ROWS elements of a segment. It keeps `kept` rows of diag(X'X)^-1 X'W in `c` at
// a time, as many as local memory holds.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void project(
    __global const float* restrict x, __global const ACC_T* restrict sums, const uint width,
    const ulong rows, const ulong segment_pitch, const uint groups,
    __global const int* restrict active, __global float* restrict w, __local Set* restrict c,
    const uint kept) {
  const uint lid = get_local_id(0);
  const ulong segment = get_group_id(0) / groups;
  const ulong inside = get_group_id(0) % groups * (ulong)ROWS;
  const ulong first = active[segment] * segment_pitch + inside;
  const uint count = (uint)min((ulong)ROWS, rows - inside);
  sums += segment * COLUMNS * (width + TILE);
  const uint sets = width / VEC;
  for (uint begin = 0; begin < COLUMNS; begin += kept) {
    const uint end = min(begin + kept, (uint)COLUMNS);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < (end - begin) * width; i += GROUP) {
      const uint from = begin + i / width;
      const uint to = i % width;
      const uint tile = from / TILE * (width / TILE) + to / TILE;
      const float norm = acc_value(sums[COLUMNS * width + from * TILE + from % TILE]);
      const float dot = acc_value(sums[(tile * TILE + from % TILE) * TILE + to % TILE]);
      ((__local float*)c)[i] = norm > 0.0f ? dot / norm : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < count * sets; i += GROUP) {
      const ulong row = first + i / sets;
      __global const float* from = x + row * COLUMNS + begin;
      __local const Set* factors = c + i % sets;
      __global Set* to = (__global Set*)(w + row * width) + i % sets;
      Set value = *to;
      for (uint k = 0; k < end - begin; ++k) value = fma((Set)(-from[k]), factors[k * sets], value);
      *to = value;
    }
  }
}
