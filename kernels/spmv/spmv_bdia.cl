// spmv_bdia: out = A in for a matrix held by bands of adjacent diagonals (BDIA; Su and Keutzer,
// clSpMV: A cross-platform OpenCL SpMV framework on GPUs, 2012). Band b has widths[b] diagonals,
// the first at offset firsts[b]; the diagonals of all bands follow each other, values[d * pitch +
// row].
//
// One work-item computes ROWS (1 or 4) consecutive rows. With -DLOCAL, a group copies the stretch
// of `in` that a band needs, GROUP * ROWS + width - 1 elements, into local memory, zero outside [0,
// cols): each element comes from memory once a band. Two barriers a band: the next band's copy must
// neither overtake those who still read this one, nor be read before it is whole. Without -DLOCAL
// the cache does that work. -DWIDEST: diagonals of the widest band. Four rows are read as one
// aligned vector, so the pitch is a multiple of 4 and holds the group's last row.
#if !defined(ROWS) || !defined(GROUP) || !defined(WIDEST)
#error "spmv_bdia needs ROWS, GROUP and WIDEST"
#endif
#include "spmv/spmv_store.clh"

#if ROWS == 1
typedef float rows_t;
#elif ROWS == 4
typedef float4 rows_t;
#else
#error "ROWS must be 1 or 4"
#endif

static inline float checked(__global const float* in, const long col, const ulong cols) {
  return (ulong)col < cols ? in[col] : 0.0f;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const float* restrict values, __global const long* restrict firsts,
    __global const uint* restrict widths, const uint bands, const ulong pitch, const ulong rows,
    const ulong cols, __global const float* restrict in, __global float* restrict out) {
  const uint lid = get_local_id(0);
  const long group_first = (long)get_group_id(0) * (GROUP * ROWS);
  const ulong row = group_first + lid * ROWS;
  const bool mine = row < rows;
  __global const float* a = values + row;
  rows_t sum = 0.0f;
#ifdef LOCAL
  __local float x[GROUP * ROWS + WIDEST];
#endif
  for (uint b = 0; b < bands; ++b) {
    const long first = firsts[b];
    const uint width = widths[b];
#ifdef LOCAL
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < GROUP * ROWS + width - 1; i += GROUP) {
      x[i] = checked(in, group_first + first + i, cols);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#define X(i) x[lid * ROWS + (i)]
#else
#define X(i) checked(in, (long)row + first + (i), cols)
#endif
    if (mine) {
#if ROWS == 1
      for (uint k = 0; k < width; ++k, a += pitch) sum += *a * X(k);
#else
      // Four neighbours, of which each diagonal needs one new.
      float x0 = X(0), x1 = X(1), x2 = X(2);
      for (uint k = 0; k < width; ++k, a += pitch) {
        const float x3 = X(k + 3);
        sum += *(__global const float4*)a * (float4)(x0, x1, x2, x3);
        x0 = x1;
        x1 = x2;
        x2 = x3;
      }
#endif
    }
  }
  if (!mine) return;
#if ROWS == 1
  STORE(row, sum);
#else
  STORE(row, sum.x);
  if (row + 1 < rows) STORE(row + 1, sum.y);
  if (row + 2 < rows) STORE(row + 2, sum.z);
  if (row + 3 < rows) STORE(row + 3, sum.w);
#endif
}
