// region_links: the affinity W_ij between each pixel i and its right and its lower neighbour j,
// from the normalized affinity A = D^-1/2 W D^-1/2: W_ij = s_i A_ij s_j with s the square roots of
// the degrees. A pixel at the border of the image gets 0 for a neighbour outside.
//
// One work-item computes one pixel. A is in pitched DIA form on a grid, diagonal d of pixel (x, y)
// at values[d * pitch + y * stride + x]; root holds the square roots of the degrees on the grid.
// right and down hold one value for each pixel of the width x height image, without padding.
//
// -DRIGHT and -DDOWN: the diagonals of the neighbours (1, 0) and (0, 1).
#if !defined(RIGHT) || !defined(DOWN)
#error "region/links.cl needs -DRIGHT and -DDOWN: the diagonals of the two neighbours"
#endif

__kernel void region_links(__global const float* restrict values,
                           __global const float* restrict root, __global float* restrict right,
                           __global float* restrict down, const int width, const int height,
                           const ulong stride, const ulong pitch) {
  const ulong i = get_global_id(0);
  if (i >= (ulong)width * height) return;
  const int px = (int)(i % width);
  const int py = (int)(i / width);
  const ulong element = py * stride + px;
  float to_right = 0.0f;
  float to_down = 0.0f;
  if (px + 1 < width) {
    to_right = values[(ulong)RIGHT * pitch + element] * root[element] * root[element + 1];
  }
  if (py + 1 < height) {
    to_down = values[(ulong)DOWN * pitch + element] * root[element] * root[element + stride];
  }
  right[i] = to_right;
  down[i] = to_down;
}
