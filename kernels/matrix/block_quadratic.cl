// block_quadratic: the quadratic form of the normalized Laplacian, the sum over i < j of
//
//   a_ij s_i s_j (y_i - y_j)^2
//
// (Shi and Malik 2000, eq. 7), without the cancellation of 1 - x'Ax, for a block of vectors
// (block.clh) and a matrix on a grid (grid_matrix.clh). `parts` holds for each i the sum over j, a
// sum of positive terms, whose rounding errors in float are small relative to the sum.
//
// One work-item computes set id % SETS of the EACH elements that begin at EACH * (id / SETS).
// Neighbouring elements share what the work-item reads of y and s but for EACH - 1 elements a band.
// EACH is 1 for a compressed matrix.
//
// -DBANDS=BAND(first diagonal, dy, first dx, number of diagonals)...; -DREACH, the largest |dx| and
// |dy|; -DEACH, 1, 2 or 4.
#if !defined(BANDS) || !defined(REACH) || !defined(EACH)
#error "block_quadratic needs BANDS, REACH and EACH, beside what block.clh needs"
#endif
#include "matrix/band_table.clh"
#include "matrix/block.clh"
#include "matrix/grid_matrix.clh"

#if EACH == 1
#define READ_WEIGHTS(lanes, p) lanes[0] = WEIGHT(p)
#elif !defined(BITS)
#define READ_WEIGHTS(lanes, p) \
  BLOCK_JOIN(vstore, EACH)(*(__global const BLOCK_JOIN(float, EACH)*)(p), 0, lanes)
#else
#error "block_quadratic: EACH must be 1 for a compressed matrix"
#endif

// The first diagonal of a band that holds a later neighbour.
#define FIRST_LATER(dy, dx) ((dy) == 0 && (dx) < 1 ? 1 - (dx) : 0)

// Adds a band to the sums of EACH elements. PLACE(element) is the element of y and s to read.
#define BAND(d, dy, dx, count)                                   \
  if ((dy) >= 0) {                                               \
    const long from = (long)row + (dy) * (long)width + (dx);     \
    Set window[EACH];                                            \
    float roots[EACH];                                           \
    UNROLL                                                       \
    for (int i = 0; i < EACH - 1; ++i) {                         \
      const long at = PLACE(from + FIRST_LATER(dy, dx) + i);     \
      window[i] = y[at * SETS + set];                            \
      roots[i] = s[at];                                          \
    }                                                            \
    for (int k = FIRST_LATER(dy, dx); k < (count); ++k) {        \
      const long at = PLACE(from + k + EACH - 1);                \
      window[EACH - 1] = y[at * SETS + set];                     \
      roots[EACH - 1] = s[at];                                   \
      float lanes[EACH];                                         \
      READ_WEIGHTS(lanes, WEIGHTS((d) + k, dy, (dx) + k));       \
      UNROLL                                                     \
      for (int i = 0; i < EACH; ++i) {                           \
        const float weight = lanes[i] * roots[i];                \
        const Set difference = own[i] - window[i];               \
        sums[i] = fma(weight * difference, difference, sums[i]); \
      }                                                          \
      UNROLL                                                     \
      for (int i = 0; i < EACH - 1; ++i) {                       \
        window[i] = window[i + 1];                               \
        roots[i] = roots[i + 1];                                 \
      }                                                          \
    }                                                            \
  }

__kernel void block_quadratic(MATRIX, const ulong width, __global const float* restrict s,
                              __global const Set* restrict y, const ulong rows,
                              __global Set* restrict parts) {
  const ulong id = get_global_id(0);
  const uint set = id % SETS;
  const ulong row = id / SETS * EACH;
  if (row >= rows) return;
#ifdef BITS
  const uint px = (uint)row % (uint)width;
  const uint py = (uint)row / (uint)width;
#endif
  const long last = (long)rows - 1;
  Set own[EACH];
  Set sums[EACH];
  UNROLL
  for (int i = 0; i < EACH; ++i) {
    own[i] = y[min((long)row + i, last) * SETS + set];
    sums[i] = (Set)(0.0f);
  }
  // In images narrower than the stencil a later image row may begin before this element.
  if (row + width >= REACH && row + EACH + REACH * width + REACH <= rows) {
#define PLACE(element) (element)
    ALL_BANDS
#undef PLACE
  } else {
    // Weights of columns that do not exist are 0, so any number may be read in their place.
#define PLACE(element) clamp(element, (long)0, last)
    ALL_BANDS
#undef PLACE
  }
  UNROLL
  for (int i = 0; i < EACH; ++i) {
    if (row + i < rows) parts[(row + i) * SETS + set] = s[row + i] * sums[i];
  }
}
