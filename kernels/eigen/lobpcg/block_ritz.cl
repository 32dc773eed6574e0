// block_ritz: what a Rayleigh-Ritz step over up to three blocks of vectors (block.clh) and their
// products with a symmetric M needs. Blocks are numbered X 0, W 1, P 2, M X 3, M W 4, M P 5; those
// that no tile names may be any. Dot products are summed in float over FLOATS elements, then in
// double or in compensated pairs (accumulate.clh), in a fixed order.
//
// A block may hold several images, in segments of `rows` elements that begin `segment_pitch` apart:
// each has sums and a rotation of its own, and what is between them is left alone. Kernels work on
// those that `active` names, whose sums, rotations and factors lie in that order. Groups of
// elements lie within a segment; `groups` is how many one segment has. So an image's sums are the
// same to the last bit wherever in a block it is.
//
// Locally optimal block conjugate gradients: A. Knyazev, "Toward the optimal preconditioned
// eigensolver", 2001.
//
// -DTILE, columns of a tile of the Gram matrix, a divisor of COLUMNS; -DFLOATS; -DLINES, as many at
// most, that block_gram takes at a time; -DROWS, elements that block_combine takes, a multiple of
// -DAT_ONCE, which an item does; -DGROUP, its work-items; and -DVALUES and -DLANES of block_sum.
#if !defined(VALUES) || !defined(LANES) || !defined(LINES) || !defined(TILE) || \
    !defined(FLOATS) || !defined(ROWS) || !defined(AT_ONCE) || !defined(GROUP)
#error "block_ritz needs LINES, TILE, FLOATS, ROWS, AT_ONCE, GROUP, VALUES and LANES"
#endif
#include "common/accumulate.clh"
#include "matrix/block.clh"

typedef BLOCK_JOIN(float, TILE) Part;

// The elements of a group, counted over all segments.
#define SEGMENT_FIRST(group) (active[(group) / groups] * segment_pitch)
#define SEGMENT_BEGIN(group) (SEGMENT_FIRST(group) + (group) % groups * chunk)
#define SEGMENT_END(group) (SEGMENT_FIRST(group) + min(((group) % groups + 1) * chunk, rows))

// Block 0, X, has COLUMNS columns, W and P `width` (a multiple of TILE and of VEC), and each the
// products of its own.

// Tile t of the Gram matrices: the dot products of TILE columns of a block with TILE columns of
// another one, over the `chunk` elements of the group: partials[(group * tiles + t) * TILE * TILE +
// i * TILE + j].
//
// With GROUP 1, on a CPU, items are (tile, group of all segments), and the tile's columns are those
// from TILE * tile.y on of block tile.x and from TILE * tile.w on of block tile.z. Otherwise
// work-groups are (some of the tiles, one an item; group of all segments): one reads LINES elements
// of all blocks that are used at a time into `lines`, of each element `line_width` parts of TILE
// values, which pairs after the tiles name by block and place in it; every item sums its tile, of
// parts tile.x and tile.y.
__kernel void block_gram(__global const Part* restrict x, __global const Part* restrict w,
                         __global const Part* restrict p, __global const Part* restrict ax,
                         __global const Part* restrict aw, __global const Part* restrict ap,
                         const uint width, __global const int4* restrict tiles,
                         const uint tile_count, const uint line_width, const ulong rows,
                         const ulong segment_pitch, const ulong chunk, const uint groups,
                         __global const int* restrict active, __global ACC_T* restrict partials,
                         __local Part* restrict lines) {
  const uint t = get_global_id(0);
  const ulong group = get_global_id(1);
  const ulong end = SEGMENT_END(group);
  ACC_T sums[TILE * TILE];
  for (uint i = 0; i < TILE * TILE; ++i) sums[i] = acc_zero();
#if GROUP == 1
  if (t >= tile_count) return;
  const int4 tile = tiles[t];
  __global const Part* const each[6] = {x, w, p, ax, aw, ap};
  __global const Part* left = each[tile.x] + tile.y;
  __global const Part* right = each[tile.z] + tile.w;
  const ulong left_parts = (tile.x % 3 == 0 ? COLUMNS : width) / TILE;
  const ulong right_parts = (tile.z % 3 == 0 ? COLUMNS : width) / TILE;
#else
  __global const int2* parts = (__global const int2*)(tiles + tile_count);
  // Items without a tile of their own help to read.
  const int4 tile = tiles[min(t, tile_count - 1)];
#endif
  for (ulong begin = SEGMENT_BEGIN(group); begin < end; begin += LINES) {
    Part part[TILE];
    for (uint i = 0; i < TILE; ++i) part[i] = (Part)(0.0f);
    const uint count = (uint)min((ulong)LINES, end - begin);
#if GROUP == 1
    for (ulong row = begin; row < begin + count; ++row) {
      const Part b = right[row * right_parts];
      __global const float* a = (__global const float*)(left + row * left_parts);
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < count * line_width; i += get_local_size(0)) {
      const int2 place = parts[i % line_width];
      const int block = place.x;
      const uint wide = (block % 3 == 0 ? COLUMNS : width) / TILE;
      const ulong at = (begin + i / line_width) * wide + place.y;
      lines[i] = block == 0   ? x[at]
                 : block == 1 ? w[at]
                 : block == 2 ? p[at]
                 : block == 3 ? ax[at]
                 : block == 4 ? aw[at]
                              : ap[at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = 0; row < count; ++row) {
      const Part b = lines[row * line_width + tile.y];
      __local const float* a = (__local const float*)(lines + row * line_width + tile.x);
#endif
      UNROLL
      for (uint i = 0; i < TILE; ++i) part[i] = fma((Part)(a[i]), b, part[i]);
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

// sums[segment * count + i] = sum over the segment's groups of partials[group * count + i]. A
// work-group of VALUES * LANES items does VALUES of them: (lane * VALUES + value, segment).
__kernel __attribute__((reqd_work_group_size(VALUES * LANES, 1, 1))) void block_sum(
    __global const ACC_T* restrict partials, const uint groups, const uint count,
    __global ACC_T* restrict sums) {
  __local ACC_T scratch[VALUES * LANES];
  const uint lid = get_local_id(0);
  const uint i = get_group_id(0) * VALUES + lid % VALUES;
  const ulong segment = get_global_id(1);
  ACC_T sum = acc_zero();
  if (i < count) {
    for (uint g = lid / VALUES; g < groups; g += LANES)
      sum = acc_join(sum, partials[(segment * groups + g) * count + i]);
  }
  scratch[lid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid >= VALUES || i >= count) return;
  for (uint lane = 1; lane < LANES; ++lane) sum = acc_join(sum, scratch[lane * VALUES + lid]);
  sums[segment * count + i] = sum;
}

// For `blocks` blocks of which x is the first: s = w Q_w + p Q_p, whose column c goes to column
// place[c] of `out`, `width` wide, if that is not negative; then, in place, x = x Q_x + s. The
// columns of `out` that get none, those from place[COLUMNS] on, become 0. Q of each segment, one
// row a column of x, w and p, are in step[] from `rotation_at` on, `place`, each segment's too,
// from `places_at` on. With one block `out` is left alone, with two p is not read. A work-group
// takes ROWS elements of a segment, whose old values it keeps in `old`.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_combine(
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

// w -= x C, `width` columns wide, C the dot products of x with w, each over the squared norm of its
// column of x (0 where that is 0): as block_sum leaves them of each segment, of all tiles of x and
// w, and after them of those of x with itself that hold the norms. A work-group takes ROWS elements
// of a segment, and keeps C in `c`.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_project(
    __global const float* restrict x, __global const ACC_T* restrict sums, const uint width,
    const ulong rows, const ulong segment_pitch, const uint groups,
    __global const int* restrict active, __global float* restrict w, __local Set* restrict c) {
  const uint lid = get_local_id(0);
  const ulong segment = get_group_id(0) / groups;
  const ulong inside = get_group_id(0) % groups * (ulong)ROWS;
  const ulong first = active[segment] * segment_pitch + inside;
  const uint count = (uint)min((ulong)ROWS, rows - inside);
  sums += segment * COLUMNS * (width + TILE);
  for (uint i = lid; i < COLUMNS * width; i += GROUP) {
    const uint from = i / width;
    const uint to = i % width;
    const uint tile = from / TILE * (width / TILE) + to / TILE;
    const float norm = acc_value(sums[COLUMNS * width + from * TILE + from % TILE]);
    const float dot = acc_value(sums[(tile * TILE + from % TILE) * TILE + to % TILE]);
    ((__local float*)c)[i] = norm > 0.0f ? dot / norm : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint sets = width / VEC;
  for (uint i = lid; i < count * sets; i += GROUP) {
    const ulong row = first + i / sets;
    __global const float* from = x + row * COLUMNS;
    __local const Set* factors = c + i % sets;
    __global Set* to = (__global Set*)(w + row * width) + i % sets;
    Set rest = *to;
    for (uint k = 0; k < COLUMNS; ++k) rest = fma((Set)(-from[k]), factors[k * sets], rest);
    *to = rest;
  }
}

// What an item (one element and set of `out`, segment) of the next two does: out[row * to + k] =
// VALUE(segment, row, columns[k]), 0 where columns[k] is negative and between the images: `columns`
// of each segment that is active, `to` of them.
#define GATHER(columns, VALUE)                                                  \
  const uint sets = to / VEC;                                                   \
  const uint item = get_global_id(0);                                           \
  const ulong inside = item / sets;                                             \
  if (inside >= segment_pitch) return;                                          \
  const uint set = item % sets;                                                 \
  const ulong place = active[get_global_id(1)];                                 \
  const ulong row = place * segment_pitch + inside;                             \
  __global const int* own = (columns) + get_global_id(1) * to + set * VEC;      \
  float lanes[VEC];                                                             \
  for (uint k = 0; k < VEC; ++k)                                                \
    lanes[k] = own[k] >= 0 && inside < rows ? VALUE(place, row, own[k]) : 0.0f; \
  out[row * sets + set] = BLOCK_JOIN(vload, VEC)(0, lanes);

// The columns of `in`, `from` wide, that columns[] names from `first` on, by GATHER.
__kernel void block_gather(__global const float* restrict in, const uint from,
                           __global const int* restrict columns, const uint first, const uint to,
                           const ulong rows, const ulong segment_pitch,
                           __global const int* restrict active, __global Set* restrict out) {
#define ENTRY(place, row, column) in[(row)*from + (column)]
  GATHER(columns + first, ENTRY);
}

// The residuals of Ritz pairs, product - x theta, theta that of each of all segments, by GATHER.
__kernel void block_rest(__global const float* restrict x, __global const float* restrict product,
                         __global const float* restrict theta, __global const int* restrict columns,
                         const uint to, const ulong rows, const ulong segment_pitch,
                         __global const int* restrict active, __global Set* restrict out) {
#define RESIDUAL(place, row, column)  \
  product[(row)*COLUMNS + (column)] - \
      theta[(place)*COLUMNS + (column)] * x[(row)*COLUMNS + (column)]
  GATHER(columns, RESIDUAL);
}

// partials[group * COLUMNS + c]: the sum over the `chunk` elements of the group of what TERM(at,
// part) adds to the sums `part` of a set, `at` being the set's place in the block. One work-group a
// group; neighbouring items read neighbouring sets.
#define COLUMN_SUMS(TERM)                                                                       \
  __local ACC_T scratch[GROUP * VEC];                                                           \
  const uint lid = get_local_id(0);                                                             \
  const ulong group = get_group_id(0);                                                          \
  const ulong end = SEGMENT_END(group);                                                         \
  for (uint base = 0; base < SETS; base += GROUP) {                                             \
    const uint width = min((uint)GROUP, SETS - base);                                           \
    const uint lanes = GROUP / width;                                                           \
    const uint lane = lid / width;                                                              \
    const uint set = base + lid % width;                                                        \
    ACC_T sums[VEC];                                                                            \
    for (uint i = 0; i < VEC; ++i) sums[i] = acc_zero();                                        \
    for (ulong row = SEGMENT_BEGIN(group) + lane; lane < lanes && row < end;) {                 \
      Set part = (Set)(0.0f);                                                                   \
      for (uint i = 0; i < FLOATS && row < end; ++i, row += lanes) TERM(SETS* row + set, part); \
      float values[VEC];                                                                        \
      BLOCK_JOIN(vstore, VEC)(part, 0, values);                                                 \
      for (uint i = 0; i < VEC; ++i) sums[i] = acc_add(sums[i], values[i]);                     \
    }                                                                                           \
    for (uint i = 0; i < VEC; ++i) scratch[lid * VEC + i] = sums[i];                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                               \
    for (uint i = 0; lane == 0 && i < VEC; ++i) {                                               \
      for (uint l = 1; l < lanes; ++l)                                                          \
        sums[i] = acc_join(sums[i], scratch[(l * width + lid) * VEC + i]);                      \
      partials[group * COLUMNS + set * VEC + i] = sums[i];                                      \
    }                                                                                           \
    barrier(CLK_LOCAL_MEM_FENCE);                                                               \
  }

// The squared norms of the columns of M X - X diag(theta), M X being `product`, theta that of each
// of all segments, by COLUMN_SUMS.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_residual(
    __global const Set* restrict x, __global const Set* restrict theta, const ulong rows,
    const ulong segment_pitch, const ulong chunk, const uint groups,
    __global const int* restrict active, __global const Set* restrict product,
    __global ACC_T* restrict partials) {
#define SQUARE_OF_RESIDUAL(at, part)                                                   \
  {                                                                                    \
    const Set rest = product[at] - theta[active[group / groups] * SETS + set] * x[at]; \
    part = fma(rest, rest, part);                                                      \
  }
  COLUMN_SUMS(SQUARE_OF_RESIDUAL);
}

// squares[segment * COLUMNS + c] = sum over the segment's groups of partials[group * COLUMNS + c];
// one work-group a column of a segment: (c, segment).
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

// The sums of the columns of x, by COLUMN_SUMS.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_columns(
    __global const Set* restrict x, const ulong rows, const ulong segment_pitch, const ulong chunk,
    const uint groups, __global const int* restrict active, __global ACC_T* restrict partials) {
#define ELEMENT(at, part) part += x[at];
  COLUMN_SUMS(ELEMENT);
}

// peaks[group * COLUMNS + c]: the entry of largest magnitude of column c over the `chunk` elements
// of the group, the first of equals. Items: (c, group of all segments).
__kernel void block_peaks(__global const float* restrict x, const ulong rows,
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

// found[segment * COLUMNS + c]: the same over a segment's groups. Work-groups are (c, segment).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_peaks_join(
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

// out = M b for dense symmetric M of `rows` x `rows`, one after the other, one for each segment.
// Blocks of `sets` sets. Items: one element and set of the segment active[second id].
__kernel void block_dense(__global const float* restrict matrix, const uint rows,
                          __global const Set* restrict b, __global Set* restrict out,
                          __global const int* restrict active, const uint sets) {
  const uint set = get_global_id(0) % sets;
  const uint row = get_global_id(0) / sets;
  if (row >= rows) return;
  const ulong segment = active[get_global_id(1)];
  // Symmetric: neighbouring rows read neighbouring words.
  __global const float* column = matrix + segment * rows * rows + row;
  __global const Set* from = b + segment * rows * sets + set;
  Set sums[4];
  for (uint k = 0; k < 4; ++k) sums[k] = (Set)(0.0f);
  uint c = 0;
  for (; c + 4 <= rows; c += 4) {
    UNROLL
    for (uint k = 0; k < 4; ++k)
      sums[k] = fma((Set)(column[(c + k) * rows]), from[(c + k) * sets], sums[k]);
  }
  for (; c < rows; ++c) sums[0] = fma((Set)(column[c * rows]), from[c * sets], sums[0]);
  out[(segment * rows + row) * sets + set] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Column `column` of block x becomes factors[at + segment] * vector, one element an item: `total`
// in all.
__kernel void block_insert(__global const float* restrict vector,
                           __global const float* restrict factors, const ulong at, const ulong rows,
                           const ulong total, const uint column, __global float* restrict x) {
  const ulong row = get_global_id(0);
  if (row < total) x[row * COLUMNS + column] = factors[at + row / rows] * vector[row];
}

// basis[k * pitch + row] = x[(first + row) * COLUMNS + |c| - 1], c = columns[at + k], signed as c;
// 0 from `rows` on. A work-group takes ROWS elements, which it reads into `lines` element by
// element and writes column by column.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_extract(
    __global const float* restrict x, const ulong first, const ulong rows, const ulong pitch,
    __global const int* restrict columns, const uint at, const uint count,
    __global float* restrict basis, __local float* restrict lines) {
  const uint lid = get_local_id(0);
  const ulong begin = get_group_id(0) * (ulong)ROWS;
  const uint existing = begin < rows ? (uint)min((ulong)ROWS, rows - begin) : 0;
  __global const float* from = x + (first + begin) * COLUMNS;
  // One more than COLUMNS: items that read neighbouring elements read different banks.
  for (uint i = lid; i < existing * COLUMNS; i += GROUP)
    lines[i / COLUMNS * (COLUMNS + 1) + i % COLUMNS] = from[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lid; i < count * ROWS; i += GROUP) {
    const uint row = i % ROWS;
    if (begin + row >= pitch) continue;
    const int c = columns[at + i / ROWS];
    const float value = row < existing ? lines[row * (COLUMNS + 1) + abs(c) - 1] : 0.0f;
    basis[i / ROWS * pitch + begin + row] = c < 0 ? -value : value;
  }
}
