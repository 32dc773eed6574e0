// basis_update: from a basis S = [X W P] and a rotation Q to the next Ritz vectors X and directions
// P: P = W Q_W + P Q_P, then X = X Q_X + P (A. Knyazev, "Toward the optimal preconditioned
// eigensolver", 2001). Blocks hold segments (segments.clh), each with a rotation of its own.
//
// -DROWS, elements that a work-group takes, a multiple of -DAT_ONCE, elements that a work-item
// takes at once; -DGROUP, work-items of a group.
#if !defined(ROWS) || !defined(AT_ONCE) || !defined(GROUP)
#error "basis_update needs ROWS, AT_ONCE and GROUP, and the macros of block.clh"
#endif
#include "matrix/block.clh"

// `blocks` of X, W, P are read: with one block `out` is left alone, with two `p` is not read.
// Column c of W Q_W + P Q_P goes to column place[c] of `out`, `width` wide, if that is not
// negative; the columns of `out` that get none, those from place[COLUMNS] on, become 0. X is
// overwritten. The words of `step` hold, for each active segment, from `places_at` on COLUMNS + 1
// places, and from `rotation_at` on Q, one row for each column of X, W and P. A work-group takes
// ROWS elements of a segment, and keeps their old values in `old`.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void basis_update(
    __global float* restrict x, __global const float* restrict w, __global const float* restrict p,
    __global float* restrict out, __global const float* restrict step, const uint places_at,
    const uint rotation_at, const uint blocks, const uint width, const ulong rows,
    const ulong segment_pitch, const uint groups, __global const int* restrict active,
    __local float* restrict old) {
  const uint lid = get_local_id(0);
  const ulong segment = get_group_id(0) / groups;
  const ulong inside = get_group_id(0) % groups * (ulong)ROWS;
  const ulong first = active[segment] * segment_pitch + inside;
  const uint count = (uint)min((ulong)ROWS, rows - inside);
  __global const int* place = (__global const int*)(step + places_at) + segment * (COLUMNS + 1);
  __global const Set* rotation =
      (__global const Set*)(step + rotation_at) + segment * (COLUMNS + (blocks - 1) * width) * SETS;
  for (uint i = lid; i < ROWS * COLUMNS; i += GROUP)
    old[i] = i < count * COLUMNS ? x[first * COLUMNS + i] : 0.0f;
  for (uint b = 1; b < blocks; ++b) {
    __global const float* from = (b == 1 ? w : p) + first * width;
    __local float* to = old + ROWS * (COLUMNS + (b - 1) * width);
    for (uint i = lid; i < ROWS * width; i += GROUP) to[i] = i < count * width ? from[i] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  // AT_ONCE elements share each set of the rotation.
  for (uint i = lid; i < (count + AT_ONCE - 1) / AT_ONCE * SETS; i += GROUP) {
    const uint row = i / SETS * AT_ONCE;
    const uint set = i % SETS;
    const uint existing = min((uint)AT_ONCE, count - row);
    Set sums[AT_ONCE];
    for (uint r = 0; r < AT_ONCE; ++r) sums[r] = (Set)(0.0f);
#define ADD_PRODUCT(from, wide, q)                                   \
  for (uint c = 0; c < (wide); ++c) {                                \
    const Set factor = (q)[c * SETS];                                \
    UNROLL                                                           \
    for (uint r = 0; r < AT_ONCE; ++r)                               \
      sums[r] = fma((Set)((from)[r * (wide) + c]), factor, sums[r]); \
  }
    for (uint b = 1; b < blocks; ++b) {
      const uint before = COLUMNS + (b - 1) * width;
      __local const float* from = old + ROWS * before + row * width;
      __global const Set* q = rotation + before * SETS + set;
      ADD_PRODUCT(from, width, q)
    }
    if (blocks > 1) {
      for (uint r = 0; r < existing; ++r) {
        __global float* to = out + (first + row + r) * width;
        float lanes[VEC];
        BLOCK_JOIN(vstore, VEC)(sums[r], 0, lanes);
        for (uint k = 0; k < VEC; ++k) {
          const int column = place[set * VEC + k];
          if (column >= 0) to[column] = lanes[k];
        }
        for (uint k = place[COLUMNS] + set; k < width; k += SETS) to[k] = 0.0f;
      }
    }
    __local const float* from = old + row * COLUMNS;
    __global const Set* q = rotation + set;
    ADD_PRODUCT(from, COLUMNS, q)
    for (uint r = 0; r < existing; ++r)
      ((__global Set*)x)[(first + row + r) * SETS + set] = sums[r];
  }
}
