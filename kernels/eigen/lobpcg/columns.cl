// columns: vectors, one after the other, into columns of a block and out of them.
//
// -DROWS, elements that a work-group of extract_columns takes; -DGROUP, its work-items.
#if !defined(ROWS) || !defined(GROUP)
#error "columns needs ROWS and GROUP, and the macros of block.clh"
#endif
#include "matrix/block.clh"

// Column `column` of x becomes factors[at + segment] * vector. Segments of `rows` elements follow
// each other, `total` elements in all; a work-item does one element.
__kernel void insert_column(__global const float* restrict vector,
                            __global const float* restrict factors, const ulong at,
                            const ulong rows, const ulong total, const uint column,
                            __global float* restrict x) {
  const ulong row = get_global_id(0);
  if (row < total) x[row * COLUMNS + column] = factors[at + row / rows] * vector[row];
}

// basis[k * pitch + row] = x[(first + row) * COLUMNS + |c| - 1] with the sign of c, c = columns[at
// + k]; 0 from `rows` on. A work-group reads ROWS elements into `lines` element by element, and
// writes them column by column.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void extract_columns(
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
