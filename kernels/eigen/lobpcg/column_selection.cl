// column_selection: the columns of a block that soft locking goes on with.
#include "eigen/lobpcg/gather.clh"
#include "matrix/block.clh"

#define ENTRY(segment, row, column) in[(row)*from + (column)]

// out = the columns of `in`, `from` wide, that columns[] names from `first` on.
__kernel void gather_columns(__global const float* restrict in, const uint from,
                             __global const int* restrict columns, const uint first, const uint to,
                             const ulong rows, const ulong segment_pitch,
                             __global const int* restrict active, __global Set* restrict out) {
  GATHER(columns + first, ENTRY);
}
