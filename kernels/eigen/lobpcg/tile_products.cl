// tile_products: dot products of the columns of blocks of vectors, in tiles of TILE x TILE columns:
// the entries of the Gram matrices S'S and S'(M S), S = [X W P]. Blocks are numbered X 0, W 1, P 2,
// M X 3, M W 4, M P 5; a block that no tile names may be any. X and M X have COLUMNS columns, the
// others `width`, a multiple of TILE. Dot products are summed in float over FLOATS elements, then
// in double or in compensated pairs (common/accumulate.clh), in a fixed order; see segments.clh.
//
// -DTILE, a divisor of COLUMNS; -DFLOATS; -DLINES, elements that a work-group reads at a time, at
// most FLOATS; -DGROUP, 1 on a CPU; -DVALUES and -DLANES of tile_totals.
#if !defined(TILE) || !defined(FLOATS) || !defined(LINES) || !defined(GROUP) || \
    !defined(VALUES) || !defined(LANES)
#error \
    "tile_products needs TILE, FLOATS, LINES, GROUP, VALUES and LANES, and the macros of block.clh"
#endif
#include "common/accumulate.clh"
#include "eigen/lobpcg/segments.clh"
#include "matrix/block.clh"

typedef BLOCK_JOIN(float, TILE) Part;

// partials[(group * tile_count + t) * TILE * TILE + i * TILE + j]: the dot product of column i of
// tile t's left block part with column j of its right one, over the elements of the group.
//
// With GROUP 1, on a CPU, work-items are (tile, group of all segments). The tile's columns are
// those from TILE * tile.y on of block tile.x and those from TILE * tile.w on of block tile.z.
// Otherwise a work-group is (some of the tiles, one for each work-item; group of all segments). It
// reads LINES elements of all blocks that have tiles into `lines`, `line_width` parts of TILE
// values for each element. The list of parts follows the tiles: block and place in the block. Each
// work-item sums its tile, of parts tile.x and tile.y of a line.
__kernel void tile_products(__global const Part* restrict x, __global const Part* restrict w,
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

// sums[segment * count + i]: the sum over the segment's groups of partials[group * count + i]. A
// work-group of VALUES * LANES items does VALUES of them: (lane * VALUES + value, segment).
__kernel __attribute__((reqd_work_group_size(VALUES * LANES, 1, 1))) void tile_totals(
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
