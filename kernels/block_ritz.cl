// block_ritz: what a Rayleigh-Ritz step over up to three blocks of vectors (block.clh) and their
// products with a symmetric M needs. Blocks are numbered X 0, W 1, P 2, M X 3, M W 4, M P 5; those
// that no tile names may be any. Dot products are summed in float over FLOATS elements, then in double or in compensated pairs (accumulate.clh), in
// a fixed order.
//
// A block may hold several images, in segments of `rows` elements that begin `segment_pitch` apart:
// each has sums and a rotation of its own, and what is between them is left alone. Kernels work on
// those that `active` names, whose sums, rotations and factors lie in that order. Groups of elements
// lie within a segment; `groups` is how many one segment has. So an image's sums are the same to the
// last bit wherever in a block it is.
//
// Locally optimal block conjugate gradients: A. Knyazev, "Toward the optimal preconditioned
// eigensolver", 2001.
//
// -DTILE, columns of a tile of the Gram matrix, a divisor of COLUMNS; -DFLOATS; -DLINES, as many at
// most, that block_gram takes at a time; -DROWS, elements that block_combine takes, a multiple of
// -DAT_ONCE, which an item does; and -DGROUP, its work-items.
#if !defined(LINES) || !defined(TILE) || !defined(FLOATS) || !defined(ROWS) || \
    !defined(AT_ONCE) || !defined(GROUP)
#error "block_ritz needs LINES, TILE, FLOATS, ROWS, AT_ONCE and GROUP, beside what block.clh needs"
#endif
#include "block.clh"
#include "grid_matrix.clh"
#include "accumulate.clh"

typedef BLOCK_JOIN(float, TILE) Part;

// The elements of a group, counted over all segments.
#define SEGMENT_FIRST(group) (active[(group) / groups] * segment_pitch)
#define SEGMENT_BEGIN(group) (SEGMENT_FIRST(group) + (group) % groups * chunk)
#define SEGMENT_END(group) (SEGMENT_FIRST(group) + min(((group) % groups + 1) * chunk, rows))

// Tile t of the Gram matrices, with tile = tiles[t]: the dot products of the TILE columns
// from TILE * tile.y on of block tile.x with those from TILE * tile.w on of block tile.z, over the `chunk`
// elements of the group: partials[(group * tiles + t) * TILE * TILE + i * TILE + j].
//
// With GROUP 1, on a CPU, items are (tile, group of all segments). Otherwise work-groups are (some
// of the tiles, one an item; group of all segments): one reads LINES elements of all blocks that are
// used at a time into `lines`, and every item sums its tile of them. The k-th of those `used` blocks
// is (slots >> 4 k) & 15, and block b is the (places >> 4 b) & 15-th.
__kernel void block_gram(__global const Part* restrict x, __global const Part* restrict w,
                         __global const Part* restrict p, __global const Part* restrict ax,
                         __global const Part* restrict aw, __global const Part* restrict ap,
                         __global const int4* restrict tiles, const uint tile_count,
                         const uint used, const uint slots, const uint places, const ulong rows,
                         const ulong segment_pitch, const ulong chunk, const uint groups,
                         __global const int* restrict active, __global ACC_T* restrict partials,
                         __local Part* restrict lines) {
  const uint t = get_global_id(0);
  const ulong group = get_global_id(1);
  const ulong end = SEGMENT_END(group);
  const uint parts = COLUMNS / TILE;
  ACC_T sums[TILE * TILE];
  for (uint i = 0; i < TILE * TILE; ++i) sums[i] = acc_zero();
#if GROUP == 1
  if (t >= tile_count) return;
  const int4 tile = tiles[t];
  __global const Part* const each[6] = {x, w, p, ax, aw, ap};
  __global const Part* left = each[tile.x] + tile.y;
  __global const Part* right = each[tile.z] + tile.w;
#else
  // Items without a tile of their own help to read.
  const int4 tile = tiles[min(t, tile_count - 1)];
  const uint width = used * parts;
  const uint left = (places >> (4 * tile.x) & 15) * parts + tile.y;
  const uint right = (places >> (4 * tile.z) & 15) * parts + tile.w;
#endif
  for (ulong begin = SEGMENT_BEGIN(group); begin < end; begin += LINES) {
    Part part[TILE];
    for (uint i = 0; i < TILE; ++i) part[i] = (Part)(0.0f);
    const uint count = (uint)min((ulong)LINES, end - begin);
#if GROUP == 1
    for (ulong row = begin; row < begin + count; ++row) {
      const Part b = right[row * parts];
      __global const float* a = (__global const float*)(left + row * parts);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < count * width; i += get_local_size(0)) {
      const uint block = slots >> (4 * (i % width / parts)) & 15;
      const ulong at = (begin + i / width) * parts + i % parts;
      lines[i] = block == 0   ? x[at]
                 : block == 1 ? w[at]
                 : block == 2 ? p[at]
                 : block == 3 ? ax[at]
                 : block == 4 ? aw[at]
                              : ap[at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = 0; row < count; ++row) {
      const Part b = lines[row * width + right];
      __local const float* a = (__local const float*)(lines + row * width + left);
#endif
      UNROLL for (uint i = 0; i < TILE; ++i) part[i] = fma((Part)(a[i]), b, part[i]);
    }
    for (uint i = 0; i < TILE; ++i) {
      float values[TILE];
      BLOCK_JOIN(vstore, TILE)(part[i], 0, values);
      for (uint j = 0; j < TILE; ++j) sums[i * TILE + j] = acc_add(sums[i * TILE + j], values[j]);
    }
  }
  if (t >= tile_count) return;
  __global ACC_T* out = partials + (group * tile_count + t) * (TILE * TILE);
  for (uint i = 0; i < TILE * TILE; ++i) out[i] = sums[i];
}

// sums[segment * count + i] = sum over the segment's groups of partials[group * count + i]. Items:
// (i, segment).
__kernel void block_sum(__global const ACC_T* restrict partials, const uint groups,
                        const uint count, __global ACC_T* restrict sums) {
  const uint i = get_global_id(0);
  if (i >= count) return;
  ACC_T sum = acc_zero();
  const ulong segment = get_global_id(1);
  for (uint g = 0; g < groups; ++g)
    sum = acc_join(sum, partials[(segment * groups + g) * count + i]);
  sums[segment * count + i] = sum;
}

// In place, for `blocks` blocks of which x is the first: p = w Q_w + p Q_p, then x = x Q_x + p.
// `rotation` holds Q of each segment: (block * COLUMNS + from) * COLUMNS + to, `blocks` blocks of
// it. With one block p is left alone, with two it is not read. A work-group takes ROWS elements of a
// segment, whose old values it keeps in `old`.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_combine(
    __global float* restrict x, __global const float* restrict w, __global float* restrict p,
    __global const Set* restrict rotation, const uint blocks, const ulong rows,
    const ulong segment_pitch, const uint groups, __global const int* restrict active,
    __local float* restrict old) {
  const uint lid = get_local_id(0);
  const ulong segment = get_group_id(0) / groups;
  const ulong inside = get_group_id(0) % groups * (ulong)ROWS;
  const ulong first = active[segment] * segment_pitch + inside;
  const uint count = (uint)min((ulong)ROWS, rows - inside);
  rotation += segment * blocks * COLUMNS * SETS;
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

// product, M X, becomes M X - X diag(theta), theta of each segment, and partials[group * COLUMNS + c]:
// the squared norm of column c over the `chunk` elements of the group. Items: (set, group of all
// segments).
__kernel void block_residual(__global const Set* restrict x, __global const Set* restrict theta,
                             const ulong rows, const ulong segment_pitch, const ulong chunk,
                             const uint groups, __global const int* restrict active,
                             __global Set* restrict product,
                             __global ACC_T* restrict partials) {
  const uint set = get_global_id(0);
  if (set >= SETS) return;
  const ulong group = get_global_id(1);
  const ulong end = SEGMENT_END(group);
  const Set values = theta[group / groups * SETS + set];
  ACC_T sums[VEC];
  for (uint i = 0; i < VEC; ++i) sums[i] = acc_zero();
  for (ulong begin = SEGMENT_BEGIN(group); begin < end; begin += FLOATS) {
    const ulong stop = min(begin + FLOATS, end);
    Set part = (Set)(0.0f);
    for (ulong row = begin; row < stop; ++row) {
      const Set rest = product[row * SETS + set] - values * x[row * SETS + set];
      product[row * SETS + set] = rest;
      part = fma(rest, rest, part);
    }
    float lanes[VEC];
    BLOCK_JOIN(vstore, VEC)(part, 0, lanes);
    for (uint i = 0; i < VEC; ++i) sums[i] = acc_add(sums[i], lanes[i]);
  }
  for (uint i = 0; i < VEC; ++i) partials[group * COLUMNS + set * VEC + i] = sums[i];
}

// squares[segment * COLUMNS + c] = sum over the segment's groups of partials[group * COLUMNS + c]; one
// work-group a column of a segment: (c, segment).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_squares(
    __global const ACC_T* restrict partials, const uint groups, __global ACC_T* restrict squares) {
  __local ACC_T scratch[GROUP];
  const uint lid = get_local_id(0);
  const ulong segment = get_group_id(1);
  ACC_T sum = acc_zero();
  for (uint g = lid; g < groups; g += GROUP)
    sum = acc_join(sum, partials[(segment * groups + g) * COLUMNS + get_group_id(0)]);
  scratch[lid] = sum;
  for (uint half_size = GROUP / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < half_size) scratch[lid] = acc_join(scratch[lid], scratch[lid + half_size]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0) squares[segment * COLUMNS + get_group_id(0)] = scratch[0];
}

// y = x / s, s one value an element; 0 where s is 0. Items: one element and set, id / SETS and
// id % SETS.
__kernel void block_divide(__global const Set* restrict x, __global const float* restrict s,
                           const ulong rows, __global Set* restrict y) {
  const ulong at = get_global_id(0);
  if (at >= rows * SETS) return;
  const float divisor = s[at / SETS];
  y[at] = divisor > 0.0f ? x[at] / divisor : (Set)(0.0f);
}

// The quadratic form of the normalised Laplacian, the sum over i < j of
//
//   a_ij s_i s_j (y_i - y_j)^2
//
// (Shi and Malik 2000, eq. 7), without the cancellation of 1 - x'Ax: `parts` are the sums over j for
// each i, of positive terms, which in float lose nothing but their own roundings. A is a
// matrix on a grid (grid_matrix.clh); upper[k] = (diagonal, offset > 0). Items: one element
// and set, id / SETS and id % SETS, of `rows`.
__kernel void block_quadratic(MATRIX, const ulong stride, __global const int2* restrict upper,
                              const uint upper_count, __global const float* restrict s,
                              __global const Set* restrict y, const ulong rows,
                              __global Set* restrict parts) {
  const ulong at = get_global_id(0);
  const ulong row = at / SETS;
  if (row >= rows) return;
  const float own_scale = s[row];
  const Set own = y[at];
#ifdef BITS
  const uint px = (uint)row % (uint)stride;
  const uint py = (uint)row / (uint)stride;
#endif
  Set part = (Set)(0.0f);
  for (uint k = 0; own_scale > 0.0f && k < upper_count; ++k) {
    const ulong other = row + (ulong)upper[k].y;
    if (other >= rows) continue;
    const float weight = WEIGHT(WEIGHTS(upper[k].x, 0, 0)) * s[other];
    const Set difference = own - y[at + (ulong)upper[k].y * SETS];
    part = fma(weight * difference, difference, part);
  }
  parts[at] = own_scale * part;
}

// partials[group * COLUMNS + c]: the sum of column c over the `chunk` elements of the group. Items:
// (set, group of all segments).
__kernel void block_columns(__global const Set* restrict x, const ulong rows,
                            const ulong segment_pitch, const ulong chunk, const uint groups,
                            __global const int* restrict active,
                            __global ACC_T* restrict partials) {
  const uint set = get_global_id(0);
  if (set >= SETS) return;
  const ulong group = get_global_id(1);
  const ulong end = SEGMENT_END(group);
  ACC_T sums[VEC];
  for (uint i = 0; i < VEC; ++i) sums[i] = acc_zero();
  for (ulong row = SEGMENT_BEGIN(group); row < end; ++row) {
    float lanes[VEC];
    BLOCK_JOIN(vstore, VEC)(x[row * SETS + set], 0, lanes);
    for (uint i = 0; i < VEC; ++i) sums[i] = acc_add(sums[i], lanes[i]);
  }
  for (uint i = 0; i < VEC; ++i) partials[group * COLUMNS + set * VEC + i] = sums[i];
}

// peaks[group * COLUMNS + c]: the entry of largest magnitude of column c over the `chunk` elements of
// the group, the first of equals. Items: (c, group of all segments).
__kernel void block_peaks(__global const float* restrict x, const ulong rows,
                          const ulong segment_pitch, const ulong chunk, const uint groups, __global const int* restrict active,
                          __global float* restrict peaks) {
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

// out = M b for dense symmetric M of `rows` x `rows`, one after the other, one for each segment.
// Items: one element and set, id / SETS and id % SETS, of the segment active[second id].
__kernel void block_dense(__global const float* restrict matrix, const uint rows,
                          __global const Set* restrict b, __global Set* restrict out,
                          __global const int* restrict active) {
  const uint set = get_global_id(0) % SETS;
  const uint row = get_global_id(0) / SETS;
  if (row >= rows) return;
  const ulong segment = active[get_global_id(1)];
  // Symmetric: neighbouring rows read neighbouring words.
  __global const float* column = matrix + segment * rows * rows + row;
  __global const Set* from = b + segment * rows * SETS + set;
  Set sums[4];
  for (uint k = 0; k < 4; ++k) sums[k] = (Set)(0.0f);
  uint c = 0;
  for (; c + 4 <= rows; c += 4) {
    UNROLL for (uint k = 0; k < 4; ++k)
        sums[k] = fma((Set)(column[(c + k) * rows]), from[(c + k) * SETS], sums[k]);
  }
  for (; c < rows; ++c) sums[0] = fma((Set)(column[c * rows]), from[c * SETS], sums[0]);
  out[(segment * rows + row) * SETS + set] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Column `column` of block x becomes factors[segment] * vector, one element an item: `total` in all.
__kernel void block_insert(__global const float* restrict vector,
                           __global const float* restrict factors, const ulong rows,
                           const ulong total, const uint column, __global float* restrict x) {
  const ulong row = get_global_id(0);
  if (row < total) x[row * COLUMNS + column] = factors[row / rows] * vector[row];
}

// basis[k * pitch + row] = x[(first + row) * COLUMNS + |c| - 1], c = columns[at + k], signed as c;
// 0 from `rows` on. Items: (element, k).
__kernel void block_extract(__global const float* restrict x, const ulong first, const ulong rows,
                            const ulong pitch, __global const int* restrict columns,
                            const uint at, __global float* restrict basis) {
  const ulong row = get_global_id(0);
  const ulong k = get_global_id(1);
  if (row >= pitch) return;
  const int c = columns[at + k];
  const float value = row < rows ? x[(first + row) * COLUMNS + abs(c) - 1] : 0.0f;
  basis[k * pitch + row] = c < 0 ? -value : value;
}
