// region_links: the affinity between each pixel and its right and its lower neighbour, W_ij =
// s_i A_ij s_j, from A = D^-1/2 W D^-1/2 in pitched DIA form on a grid; 0 at the image's border.
//
// One work-item serves one pixel. Layout: values[d * pitch + y * stride + x] and root (the square
// roots of the degrees) on the grid; right and down one a pixel of the width x height image,
// without padding.
//
// -DRIGHT and -DDOWN, the diagonals of the neighbours (1, 0) and (0, 1).
#if !defined(RIGHT) || !defined(DOWN)
#error "region_links needs RIGHT and DOWN"
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
