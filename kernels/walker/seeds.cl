// seeds: the linear systems of the random walker, and the labels from their solutions
// (lib/solver/walker/random_walker.hpp). seeds[row] is the number of the label that a pixel was
// given, from 1 on, or 0.
#include "matrix/block.clh"

// Sets the matrix's rows and columns of seeded pixels to 0. A work-item takes a pixel: most have no
// seed, and nothing to do.
__kernel void eliminate_seeds(__global float* restrict values, const ulong pitch, const ulong rows,
                              __global const long* restrict offsets, const ulong diagonals,
                              __global const int* restrict seeds) {
  const ulong row = get_global_id(0);
  if (row >= rows || seeds[row] == 0) return;
  for (ulong d = 0; d < diagonals; ++d) {
    values[d * pitch + row] = 0.0f;
    const long neighbour = (long)row - offsets[d];
    if (neighbour >= 0 && neighbour < (long)rows) values[d * pitch + neighbour] = 0.0f;
  }
}

// out = sqrt_degree, but 0 at seeded pixels.
__kernel void unseeded_degree(__global const float* restrict sqrt_degree,
                              __global const int* restrict seeds, const ulong rows,
                              __global float* restrict out) {
  const ulong row = get_global_id(0);
  if (row < rows) out[row] = seeds[row] != 0 ? 0.0f : sqrt_degree[row];
}

// Column c of the block becomes sqrt_degree where the seed is first + c, else 0.
__kernel void seed_block(__global const int* restrict seeds,
                         __global const float* restrict sqrt_degree, const ulong rows,
                         const int first, __global float* restrict block) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  const float own = sqrt_degree[row];
  const int column = seeds[row] - first;
  for (int c = 0; c < COLUMNS; ++c) block[row * COLUMNS + c] = c == column ? own : 0.0f;
}

// Column c of the block becomes probabilities * sqrt_degree.
__kernel void start_column(__global const float* restrict probabilities,
                           __global const float* restrict sqrt_degree, const ulong rows,
                           const int c, __global float* restrict block) {
  const ulong row = get_global_id(0);
  if (row < rows) block[row * COLUMNS + c] = probabilities[row] * sqrt_degree[row];
}

// Sets the rows of seeded pixels to 0.
__kernel void clear_seeds(__global const int* restrict seeds, const ulong rows,
                          __global float* restrict block) {
  const ulong row = get_global_id(0);
  if (row >= rows || seeds[row] == 0) return;
  for (int c = 0; c < COLUMNS; ++c) block[row * COLUMNS + c] = 0.0f;
}

// labels[row] becomes first + c for the column c, of `count`, that has the largest value in the
// row, if that is larger than best[row], which becomes that value. Of equal values the first
// counts.
__kernel void best_columns(__global const float* restrict block, const ulong rows, const int first,
                           const int count, __global float* restrict best,
                           __global int* restrict labels) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  float most = best[row];
  int label = labels[row];
  for (int c = 0; c < count; ++c) {
    const float value = block[row * COLUMNS + c];
    if (value > most) {
      most = value;
      label = first + c;
    }
  }
  best[row] = most;
  labels[row] = label;
}

// out[row] = the probability of column c: block / sqrt_degree; 0 where there is no data. Seeded
// pixels have it from their seed.
__kernel void probability(__global const float* restrict block,
                          __global const float* restrict sqrt_degree,
                          __global const int* restrict seeds, const ulong rows, const int c,
                          const int label, __global float* restrict out) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  const float own = sqrt_degree[row];
  const float walked = own > 0.0f ? clamp(block[row * COLUMNS + c] / own, 0.0f, 1.0f) : 0.0f;
  out[row] = seeds[row] != 0 ? (float)(seeds[row] == label) : walked;
}
