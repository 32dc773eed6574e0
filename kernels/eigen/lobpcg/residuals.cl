// residuals: M x - theta x of Ritz pairs (theta, x), the columns of X, and chosen columns of a
// block, with which soft locking goes on. `product` is M X; `theta` holds COLUMNS Ritz values for
// each segment, whether the segment is active or not.
//
// -DFLOATS and -DGROUP: see column_sums.clh.
#include "common/accumulate.clh"
#include "eigen/lobpcg/column_sums.clh"
#include "eigen/lobpcg/segments.clh"
#include "matrix/block.clh"

// Block `out` of `to` columns from chosen columns. `columns` names, for each active segment
// (segments.clh), `to` columns; a column of `out` whose name is negative is 0, and so are the
// elements between images. VALUE(segment, row, column) is an entry. Work-items are (element of the
// segment and set of its columns, number of the active segment).
#define GATHER(columns, VALUE)                                                    \
  const uint sets = to / VEC;                                                     \
  const uint item = get_global_id(0);                                             \
  const ulong inside = item / sets;                                               \
  if (inside >= segment_pitch) return;                                            \
  const uint set = item % sets;                                                   \
  const ulong segment = active[get_global_id(1)];                                 \
  const ulong row = segment * segment_pitch + inside;                             \
  __global const int* own = (columns) + get_global_id(1) * to + set * VEC;        \
  float lanes[VEC];                                                               \
  for (uint k = 0; k < VEC; ++k)                                                  \
    lanes[k] = own[k] >= 0 && inside < rows ? VALUE(segment, row, own[k]) : 0.0f; \
  out[row * sets + set] = BLOCK_JOIN(vload, VEC)(0, lanes)

#define RESIDUAL(segment, row, column) \
  product[(row)*COLUMNS + (column)] -  \
      theta[(segment)*COLUMNS + (column)] * x[(row)*COLUMNS + (column)]

// out = the residuals of the columns of X that columns[] names.
__kernel void residuals(__global const float* restrict x, __global const float* restrict product,
                        __global const float* restrict theta, __global const int* restrict columns,
                        const uint to, const ulong rows, const ulong segment_pitch,
                        __global const int* restrict active, __global Set* restrict out) {
  GATHER(columns, RESIDUAL);
}

#define ENTRY(segment, row, column) in[(row)*from + (column)]

// out = the columns of `in`, `from` wide, that columns[] names from `first` on.
__kernel void gather_columns(__global const float* restrict in, const uint from,
                             __global const int* restrict columns, const uint first, const uint to,
                             const ulong rows, const ulong segment_pitch,
                             __global const int* restrict active, __global Set* restrict out) {
  GATHER(columns + first, ENTRY);
}

// The squared norms of the residuals of all columns, summed over groups.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void squared_residuals(
    __global const Set* restrict x, __global const Set* restrict theta, const ulong rows,
    const ulong segment_pitch, const ulong chunk, const uint groups,
    __global const int* restrict active, __global const Set* restrict product,
    __global ACC_T* restrict partials) {
#define SQUARE_OF_RESIDUAL(at, part)                                                       \
  {                                                                                        \
    const Set residual = product[at] - theta[active[group / groups] * SETS + set] * x[at]; \
    part = fma(residual, residual, part);                                                  \
  }
  COLUMN_SUMS(SQUARE_OF_RESIDUAL)
}
