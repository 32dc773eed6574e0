// spmv_bdia: out = A in for a matrix of bands of adjacent diagonals. Band b has widths[b]
// diagonals, the first at offset firsts[b]; the diagonals of all bands follow each other in memory,
// and values[d * pitch + row] is the element of diagonal d in a row (BDIA; Su and Keutzer, clSpMV:
// A cross-platform OpenCL SpMV framework on GPUs, 2012).
//
// One work-item computes ROWS consecutive rows, 1 or 4. The four elements of a diagonal are read as
// one aligned vector, so the pitch is then a multiple of 4 and holds the last row of the last
// group. -DGROUP: work-items in a group.
//
// Without -DWIDEST, the diagonals of the widest band, `in` is read through the cache. With it, for
// each band a group copies the stretch of `in` that it needs, GROUP ROWS + width - 1 elements, into
// local memory, with zeros outside of [0, cols): each element comes from memory once. There are two
// barriers for each band: the next band's copy must neither overtake work-items that still read
// this one, nor be read before it is whole.
#if !defined(GROUP) || !defined(ROWS)
#error "spmv_bdia needs GROUP and ROWS"
#endif
#include "spmv/spmv_weights.clh"

#ifdef WIDEST
#define INPUT(k) mine[k]
#else
#define INPUT(k) checked(in, first + (k), cols)
#endif

// in[col], or 0 outside of [0, cols).
static inline float checked(__global const float* in, const long col, const ulong cols) {
  return (ulong)col < cols ? in[col] : 0.0f;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const weight_t* restrict values, __global const long* restrict firsts,
    __global const uint* restrict widths, const uint bands, const ulong pitch, const ulong rows,
    const ulong cols, VECTORS) {
  const ulong row = get_global_id(0) * ROWS;
#ifdef WIDEST
  __local float x[GROUP * ROWS + WIDEST];
  const uint lid = get_local_id(0);
  __local const float* mine = x + lid * ROWS;
#else
  if (row >= rows) return;
#endif
  __global const weight_t* a = values + row;
#if ROWS == 4
  float4 sum = 0.0f;
#else
  float sum = 0.0f;
#endif
  for (uint b = 0; b < bands; ++b) {
    const long first = (long)row + firsts[b];
    const uint width = widths[b];
#ifdef WIDEST
    const long group_first = first - lid * ROWS;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < GROUP * ROWS + width - 1; i += GROUP) {
      x[i] = checked(in, group_first + i, cols);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (row < rows) {
#if ROWS == 4
      // Four neighbouring elements of `in`, one of which is new for each diagonal.
      float x0 = INPUT(0), x1 = INPUT(1), x2 = INPUT(2);
      for (uint k = 0; k < width; ++k, a += pitch) {
        const float x3 = INPUT(k + 3);
        sum += WEIGHTS(4, a) * (float4)(x0, x1, x2, x3);
        x0 = x1;
        x1 = x2;
        x2 = x3;
      }
#else
      for (uint k = 0; k < width; ++k, a += pitch) sum += WEIGHT(a, 0) * INPUT(k);
#endif
    }
  }
  if (row >= rows) return;
#if ROWS == 4
  STORE(row, sum.x);
  if (row + 1 < rows) STORE(row + 1, sum.y);
  if (row + 2 < rows) STORE(row + 2, sum.z);
  if (row + 3 < rows) STORE(row + 3, sum.w);
#else
  STORE(row, sum);
#endif
}
