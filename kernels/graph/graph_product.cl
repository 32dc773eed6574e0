// graph_product: products of sparse matrices by rows (CSR) with blocks of vectors.
//
// Row r of a matrix has the entries starts[r] to starts[r + 1] of `columns` and `values`. Each sum
// over a row becomes
//   out = keep own + f (p sum + q own + r other),   sum = values x,
// `own`, `other` and `out` being elements of row r, and f 1 or factors[r]. Where a coefficient is
// 0, what it multiplies is not read.
//
// Rows of more than LONG entries are left out by graph_rows: graph_pieces sums PIECE entries of
// them at a time, and graph_long_rows adds the pieces in their order.
//
// With -DENERGY a sum is that of values_rc factors_c (own - x_c)^2, and out = factors_r sum / 2.
#include "matrix/block.clh"

#if !defined(LONG) || !defined(PIECE)
#error "graph_product needs LONG and PIECE"
#endif

// What a CPU's work-item takes at once, all sets of a row; on a GPU one set.
#ifdef COLUMNS
#define TAKEN SETS
#define FIRST_SET 0
#else
#define TAKEN 1
#define FIRST_SET set
#endif

#ifdef ENERGY
#define OWN(row)   \
  Set mine[TAKEN]; \
  for (uint k = 0; k < TAKEN; ++k) mine[k] = own[(row) * (ulong)SETS + FIRST_SET + k];
#define ADD_ENTRY(sums, at)                                      \
  {                                                              \
    const ulong from = columns[at] * (ulong)SETS + FIRST_SET;    \
    const Set weight = (Set)(values[at] * factors[columns[at]]); \
    for (uint k = 0; k < TAKEN; ++k) {                           \
      const Set difference = mine[k] - x[from + k];              \
      sums[k] = fma(weight * difference, difference, sums[k]);   \
    }                                                            \
  }
#else
#define OWN(row)
#define ADD_ENTRY(sums, at)                                                       \
  {                                                                               \
    const ulong from = columns[at] * (ulong)SETS + FIRST_SET;                     \
    const Set weight = (Set)(values[at]);                                         \
    for (uint k = 0; k < TAKEN; ++k) sums[k] = fma(weight, x[from + k], sums[k]); \
  }
#endif

// out, for the sum `sum` of row `row` and the set at `at`.
#ifdef ENERGY
#define STORE(row, at, sum) out[at] = 0.5f * factors[row] * (sum)
#else
#define STORE(row, at, sum)                    \
  {                                            \
    Set value = p * (sum);                     \
    if (q != 0.0f) value += q * own[at];       \
    if (r != 0.0f) value += r * other[at];     \
    if (scaled) value *= factors[row];         \
    if (keep != 0.0f) value += keep * own[at]; \
    out[at] = value;                           \
  }
#endif

#define MATRIX                                                                 \
  __global const uint *restrict starts, __global const uint *restrict columns, \
      __global const float *restrict values, __global const float *restrict factors
#define COEFFICIENTS const float keep, const float p, const float q, const float r, const int scaled

// Work-items: a row and a set of it; where COLUMNS is known, RUN rows.
__kernel void graph_rows(MATRIX, const uint rows, __global const Set* restrict x,
                         __global const Set* own, __global const Set* other, __global Set* out,
                         COEFFICIENTS, const uint sets) {
#ifdef COLUMNS
  const uint begin = get_global_id(0) * RUN;
  const uint end = min(begin + RUN, rows);
  for (uint row = begin; row < end; ++row) {
#else
  const uint row = get_global_id(0) / sets;
  const uint set = get_global_id(0) % sets;
  if (row < rows) {
#endif
    const uint first = starts[row];
    const uint last = starts[row + 1];
    if (last - first <= LONG) {
      OWN(row)
      Set sums[TAKEN];
      for (uint k = 0; k < TAKEN; ++k) sums[k] = (Set)(0.0f);
      for (uint at = first; at < last; ++at) ADD_ENTRY(sums, at)
      for (uint k = 0; k < TAKEN; ++k) STORE(row, row * (ulong)SETS + FIRST_SET + k, sums[k]);
    }
  }
}

// partials[piece] = the sum over PIECE entries of a long row. long_rows: of each long row the row,
// its first piece and its pieces; piece_rows: of each piece its number in long_rows. Work-items:
// as those of graph_rows, a piece in place of a row, and one of them at a time.
__kernel void graph_pieces(MATRIX, const uint pieces, __global const Set* restrict x,
                           __global const Set* own, __global const uint* restrict long_rows,
                           __global const uint* restrict piece_rows,
                           __global Set* restrict partials, const uint sets) {
#ifdef COLUMNS
  const uint piece = get_global_id(0);
#else
  const uint piece = get_global_id(0) / sets;
  const uint set = get_global_id(0) % sets;
#endif
  if (piece >= pieces) return;
  const uint number = piece_rows[piece];
  const uint row = long_rows[number * 3];
  const uint first = starts[row] + (piece - long_rows[number * 3 + 1]) * PIECE;
  const uint last = min(first + PIECE, starts[row + 1]);
  OWN(row)
  Set sums[TAKEN];
  for (uint k = 0; k < TAKEN; ++k) sums[k] = (Set)(0.0f);
  for (uint at = first; at < last; ++at) ADD_ENTRY(sums, at)
  for (uint k = 0; k < TAKEN; ++k) partials[piece * (ulong)SETS + FIRST_SET + k] = sums[k];
}

// The long rows of `out`. Work-items: a long row and a set of it.
__kernel void graph_long_rows(__global const float* restrict factors, const uint count,
                              __global const uint* restrict long_rows,
                              __global const Set* restrict partials, __global const Set* own,
                              __global const Set* other, __global Set* out, COEFFICIENTS,
                              const uint sets) {
  const uint number = get_global_id(0) / SETS;
  const uint set = get_global_id(0) % SETS;
  if (number >= count) return;
  const uint row = long_rows[number * 3];
  const ulong first = long_rows[number * 3 + 1];
  const uint pieces = long_rows[number * 3 + 2];
  Set sum = (Set)(0.0f);
  for (uint k = 0; k < pieces; ++k) sum += partials[(first + k) * SETS + set];
  const ulong at = row * (ulong)SETS + set;
  STORE(row, at, sum);
}

// out = alpha f a + beta out, f being 1 or factors[row]. Work-items: an element and a set.
__kernel void graph_scale(__global const float* restrict factors, const int scaled,
                          const float alpha, __global const Set* a, const float beta,
                          __global Set* out, const ulong rows, const uint sets) {
  const ulong at = get_global_id(0);
  if (at >= rows * SETS) return;
  Set value = (scaled ? alpha * factors[at / SETS] : alpha) * a[at];
  if (beta != 0.0f) value += beta * out[at];
  out[at] = value;
}
