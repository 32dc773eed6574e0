// block_ritz: what a Rayleigh-Ritz step over up to three blocks of vectors (block.clh) and their
// products with A needs. Blocks are numbered X 0, W 1, P 2, A X 3, A W 4, A P 5. Dot products are
// summed in float over FLOATS elements, then in double or in compensated pairs (accumulate.clh), in
// a fixed order.
//
// Locally optimal block conjugate gradients: A. Knyazev, "Toward the optimal preconditioned
// eigensolver", 2001.
//
// -DTILE, columns of a tile of the Gram matrix, a divisor of COLUMNS; -DFLOATS; -DROWS, elements that
// block_combine takes at a time, a multiple of -DAT_ONCE, which an item does; and -DGROUP, its
// work-items.
#if !defined(TILE) || !defined(FLOATS) || !defined(ROWS) || !defined(AT_ONCE) || !defined(GROUP)
#error "block_ritz needs TILE, FLOATS, ROWS, AT_ONCE and GROUP, beside what block.clh needs"
#endif
#include "block.clh"
#include "accumulate.clh"

typedef BLOCK_JOIN(float, TILE) Part;

// Tile t of the Gram matrices, with tile = tiles[first_tile + t]: the dot products of the TILE columns
// from TILE * tile.y on of block tile.x with those from TILE * tile.w on of block tile.z, over the `chunk`
// elements from chunk * group on: partials[(group * tiles + t) * TILE * TILE + i * TILE + j]. Items:
// (tile, group).
__kernel void block_gram(__global const Part* restrict x, __global const Part* restrict w,
                         __global const Part* restrict p, __global const Part* restrict ax,
                         __global const Part* restrict aw, __global const Part* restrict ap,
                         __global const int4* restrict tiles, const uint first_tile,
                         const uint tile_count,
                         const ulong rows, const ulong chunk, __global ACC_T* restrict partials) {
  const uint t = get_global_id(0);
  if (t >= tile_count) return;
  const int4 tile = tiles[first_tile + t];
  __global const Part* const blocks[6] = {x, w, p, ax, aw, ap};
  __global const Part* left = blocks[tile.x] + tile.y;
  __global const Part* right = blocks[tile.z] + tile.w;
  ACC_T sums[TILE * TILE];
  for (uint i = 0; i < TILE * TILE; ++i) sums[i] = acc_zero();
  const ulong group = get_global_id(1);
  const ulong end = min((group + 1) * chunk, rows);
  for (ulong begin = group * chunk; begin < end; begin += FLOATS) {
    Part part[TILE];
    for (uint i = 0; i < TILE; ++i) part[i] = (Part)(0.0f);
    const ulong stop = min(begin + FLOATS, end);
    for (ulong row = begin; row < stop; ++row) {
      const Part b = right[row * (COLUMNS / TILE)];
      __global const float* a = (__global const float*)(left + row * (COLUMNS / TILE));
      UNROLL for (uint i = 0; i < TILE; ++i) part[i] = fma((Part)(a[i]), b, part[i]);
    }
    for (uint i = 0; i < TILE; ++i) {
      float values[TILE];
      BLOCK_JOIN(vstore, TILE)(part[i], 0, values);
      for (uint j = 0; j < TILE; ++j)
        sums[i * TILE + j] = acc_add(sums[i * TILE + j], values[j]);
    }
  }
  __global ACC_T* out = partials + (group * tile_count + t) * (TILE * TILE);
  for (uint i = 0; i < TILE * TILE; ++i) out[i] = sums[i];
}

// sums[i] = sum over groups of partials[group * count + i].
__kernel void block_sum(__global const ACC_T* restrict partials, const uint groups,
                        const uint count, __global ACC_T* restrict sums) {
  const uint i = get_global_id(0);
  if (i >= count) return;
  ACC_T sum = acc_zero();
  for (uint g = 0; g < groups; ++g) sum = acc_join(sum, partials[(ulong)g * count + i]);
  sums[i] = sum;
}

// In place, for `blocks` blocks of which x is the first: p = w Q_w + p Q_p, then x = x Q_x + p.
// `rotation` holds Q: (block * COLUMNS + from) * COLUMNS + to. With one block p is left alone, with
// two it is not read. A work-group takes ROWS elements, whose old values it keeps in `old`.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_combine(
    __global float* restrict x, __global const float* restrict w, __global float* restrict p,
    __global const Set* restrict rotation, const uint blocks, const ulong rows,
    __local float* restrict old) {
  const uint lid = get_local_id(0);
  const ulong first = get_group_id(0) * (ulong)ROWS;
  const uint count = (uint)min((ulong)ROWS, rows - first);
  for (uint i = lid; i < ROWS * COLUMNS; i += GROUP) {
    const bool exists = i < count * COLUMNS;
    old[i] = exists ? x[first * COLUMNS + i] : 0.0f;
    if (blocks > 1) old[ROWS * COLUMNS + i] = exists ? w[first * COLUMNS + i] : 0.0f;
    if (blocks > 2) old[2 * ROWS * COLUMNS + i] = exists ? p[first * COLUMNS + i] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  // AT_ONCE elements share each set of the rotation.
  for (uint i = lid; i < (count + AT_ONCE - 1) / AT_ONCE * SETS; i += GROUP) {
    const uint row = i / SETS * AT_ONCE;
    const uint set = i % SETS;
    Set sums[AT_ONCE];
    for (uint r = 0; r < AT_ONCE; ++r) sums[r] = (Set)(0.0f);
    for (uint b = 1; b <= blocks; ++b) {
      // The directions first, from the blocks after x; then x on top of them.
      const uint block = b < blocks ? b : 0;
      if (block == 0 && blocks > 1) {
        for (uint r = 0; r < min((uint)AT_ONCE, count - row); ++r)
          ((__global Set*)p)[(first + row + r) * SETS + set] = sums[r];
      }
      __local const float* from = old + (block * ROWS + row) * COLUMNS;
      __global const Set* q = rotation + block * COLUMNS * SETS + set;
      for (uint c = 0; c < COLUMNS; ++c) {
        const Set factor = q[c * SETS];
        UNROLL for (uint r = 0; r < AT_ONCE; ++r)
            sums[r] = fma((Set)(from[r * COLUMNS + c]), factor, sums[r]);
      }
    }
    for (uint r = 0; r < min((uint)AT_ONCE, count - row); ++r)
      ((__global Set*)x)[(first + row + r) * SETS + set] = sums[r];
  }
}

// r = A X - X diag(theta), and partials[group * COLUMNS + c]: the squared norm of column c over the
// `chunk` elements from chunk * group on. Items: (set, group).
__kernel void block_residual(__global const Set* restrict x, __global const Set* restrict ax,
                             __global const Set* restrict theta, const ulong rows,
                             const ulong chunk, __global Set* restrict r,
                             __global ACC_T* restrict partials) {
  const uint set = get_global_id(0);
  if (set >= SETS) return;
  const ulong group = get_global_id(1);
  const ulong end = min((group + 1) * chunk, rows);
  const Set values = theta[set];
  ACC_T sums[VEC];
  for (uint i = 0; i < VEC; ++i) sums[i] = acc_zero();
  for (ulong begin = group * chunk; begin < end; begin += FLOATS) {
    const ulong stop = min(begin + FLOATS, end);
    Set part = (Set)(0.0f);
    for (ulong row = begin; row < stop; ++row) {
      const Set rest = ax[row * SETS + set] - values * x[row * SETS + set];
      r[row * SETS + set] = rest;
      part = fma(rest, rest, part);
    }
    float lanes[VEC];
    BLOCK_JOIN(vstore, VEC)(part, 0, lanes);
    for (uint i = 0; i < VEC; ++i) sums[i] = acc_add(sums[i], lanes[i]);
  }
  for (uint i = 0; i < VEC; ++i) partials[group * COLUMNS + set * VEC + i] = sums[i];
}

// squares[c] = sum over groups of partials[group * COLUMNS + c]; one work-group a column.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_squares(
    __global const ACC_T* restrict partials, const uint groups, __global ACC_T* restrict squares) {
  __local ACC_T scratch[GROUP];
  const uint lid = get_local_id(0);
  ACC_T sum = acc_zero();
  for (uint g = lid; g < groups; g += GROUP)
    sum = acc_join(sum, partials[(ulong)g * COLUMNS + get_group_id(0)]);
  scratch[lid] = sum;
  for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < half_size) scratch[lid] = acc_join(scratch[lid], scratch[lid + half_size]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0) squares[get_group_id(0)] = scratch[0];
}

// out = M b for a dense symmetric M of `rows` x `rows`. Items: one element and set, id / SETS and
// id % SETS.
__kernel void block_dense(__global const float* restrict matrix, const uint rows,
                          __global const Set* restrict b, __global Set* restrict out) {
  const ulong at = get_global_id(0);
  const ulong row = at / SETS;
  const uint set = (uint)(at % SETS);
  if (row >= rows) return;
  Set sum = (Set)(0.0f);
  // Symmetric: neighbouring rows read neighbouring words.
  for (uint c = 0; c < rows; ++c)
    sum = fma((Set)(matrix[(ulong)c * rows + row]), b[(ulong)c * SETS + set], sum);
  out[at] = sum;
}

// Column `column` of block x becomes factor * vector, one element an item.
__kernel void block_insert(__global const float* restrict vector, const float factor,
                           const ulong rows, const uint column, __global float* restrict x) {
  const ulong row = get_global_id(0);
  if (row < rows) x[row * COLUMNS + column] = factor * vector[row];
}

// basis[c * pitch + row] = x[row * COLUMNS + c]; 0 from `rows` on. Items: (element, c).
__kernel void block_extract(__global const float* restrict x, const ulong rows, const ulong pitch,
                            __global float* restrict basis) {
  const ulong row = get_global_id(0);
  const ulong c = get_global_id(1);
  if (row < pitch) basis[c * pitch + row] = row < rows ? x[row * COLUMNS + c] : 0.0f;
}
