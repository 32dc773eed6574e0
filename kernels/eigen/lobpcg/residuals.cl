// residuals: M x - theta x of Ritz pairs (theta, x), the columns of X. `product` is M X; `theta`
// holds COLUMNS Ritz values for each segment, whether the segment is active or not.
//
// -DFLOATS and -DGROUP: see column_sums.clh.
#include "common/accumulate.clh"
#include "eigen/lobpcg/column_sums.clh"
#include "eigen/lobpcg/gather.clh"
#include "eigen/lobpcg/segments.clh"
#include "matrix/block.clh"

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
