// coarsen_far: what a coarse matrix (coarsen.cl) has of discs of larger strides than 1. An entry of
// the fine matrix that leads (2 dx, 2 dy) from a kept pixel leads to a kept pixel, and is taken
// over as the entry that leads (dx, dy) on the coarse grid. With the two hops within the disc of
// stride 1, rows of the coarse matrix give the square roots of the degrees, s, back. Of entries
// that lead to no kept pixel, or farther than the coarse stencil, coarsen_dropped puts what they
// give of s on the main diagonal.
//
// Matrices are in pitched DIA form on grids as in coarsen.cl. Elements from the coarse rows to the
// pitch become 0.

// Work-item (row, m): entries[m] is the coarse diagonal, the fine one, and whether coarsen_matrix
// wrote to the coarse diagonal, so that the entry is added.
__kernel void coarsen_far(__global const float* restrict values, const ulong pitch,
                          __global const int4* restrict entries, const int width, const int height,
                          __global float* restrict coarse, const ulong coarse_pitch) {
  const ulong row = get_global_id(0);
  if (row >= coarse_pitch) return;
  const int4 entry = entries[get_global_id(1)];
  const ulong coarse_width = (width + 1) / 2;
  const ulong coarse_rows = coarse_width * ((height + 1) / 2);
  __global float* to = coarse + entry.x * coarse_pitch + row;
  float value = entry.z != 0 ? *to : 0.0f;
  if (row < coarse_rows)
    value += values[entry.y * pitch + 2 * (row / coarse_width) * width + 2 * (row % coarse_width)];
  *to = value;
}

// Work-item `row`. entries: the fine diagonals and their offsets; `centre`: the coarse main
// diagonal.
__kernel void coarsen_dropped(__global const float* restrict values, const ulong pitch,
                              __global const int2* restrict entries, const int count,
                              __global const float* restrict sqrt_degree, const int width,
                              const int height, __global float* restrict coarse,
                              const ulong coarse_pitch, const int centre) {
  const ulong row = get_global_id(0);
  const ulong coarse_width = (width + 1) / 2;
  if (row >= coarse_width * ((height + 1) / 2)) return;
  const ulong own = 2 * (row / coarse_width) * width + 2 * (row % coarse_width);
  if (sqrt_degree[own] == 0.0f) return;
  float sum = 0.0f;
  for (int k = 0; k < count; ++k) {
    const float value = values[entries[k].x * pitch + own];
    if (value != 0.0f) sum += value * sqrt_degree[(long)own + entries[k].y];
  }
  coarse[centre * coarse_pitch + row] += sum / sqrt_degree[own];
}
