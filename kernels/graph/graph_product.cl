// graph_product: products of sparse matrices by rows (CSR) with blocks of vectors.
//
// Row r of a matrix has the entries starts[r] to starts[r + 1] of `columns` and `values`. Each sum
// over a row becomes
//   out = keep own + f (p sum + q own + r other),   sum = values x,
// `own`, `other` and `out` being elements of row r, and f 1 or factors[r]. Where a coefficient is
// 0, what it multiplies is not read.
//
// Sums of LONG entries at a time are added up, so that a float keeps some five digits of a long
// row.
//
// With -DENERGY a sum is that of values_rc factors_c (own - x_c)^2, and out = factors_r sum / 2.
#include "matrix/block.clh"

#ifndef LONG
#error "graph_product needs LONG"
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
    const uint last = starts[row + 1];
    OWN(row)
    Set sums[TAKEN];
    for (uint k = 0; k < TAKEN; ++k) sums[k] = (Set)(0.0f);
    for (uint block = starts[row]; block < last; block += LONG) {
      Set part[TAKEN];
      for (uint k = 0; k < TAKEN; ++k) part[k] = (Set)(0.0f);
      const uint block_end = min(block + LONG, last);
      for (uint at = block; at < block_end; ++at) ADD_ENTRY(part, at)
      for (uint k = 0; k < TAKEN; ++k) sums[k] += part[k];
    }
    for (uint k = 0; k < TAKEN; ++k) STORE(row, row * (ulong)SETS + FIRST_SET + k, sums[k]);
  }
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
