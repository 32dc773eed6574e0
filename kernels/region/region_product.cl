// region_product: out = W_R x for several vectors at once. W_R is the affinity matrix W without the
// affinities between pixels of different regions. The matrix in memory is the normalized affinity
// A = D^-1/2 W D^-1/2 in pitched DIA form on a grid; W_ij = s_i A_ij s_j with s the square roots of
// the degrees.
//
// One work-item computes the COLUMNS values of one pixel, so that each entry of the matrix is read
// once for all vectors. Layout:
//   values       values[d * pitch + y * width + x], diagonal d of pixel (x, y)
//   root         the square root of the degree of each pixel
//   region       the region of each pixel of the width x height image; 0 where there is none
//   x, out       COLUMNS values for each pixel, pixel by pixel: one vector load for a neighbour
// Pixels in region 0 get zeros. x is read only at pixels in regions, and may hold anything
// elsewhere.
//
// -DENTRIES=ENTRY(0,-5,0)ENTRY(1,...)...: each diagonal with the dx and dy of its neighbour.
// -DCOLUMNS: 1, 2, 4, 8 or 16 vectors. Sizes are arguments, so that one program serves all images.
#if !defined(ENTRIES) || !defined(COLUMNS)
#error "region/region_product.cl needs -DENTRIES and -DCOLUMNS"
#endif

#define VEC COLUMNS
#include "matrix/block.clh"

#define ENTRY(d, dx, dy) (int2)(dx, dy),
#define END_OF_ENTRIES (int2)(0, 0)
__constant int2 kEntries[] = {ENTRIES END_OF_ENTRIES};
#undef ENTRY
#define DIAGONALS (sizeof(kEntries) / sizeof(int2) - 1)

__kernel void region_product(__global const float* restrict values,
                             __global const float* restrict root,
                             __global const int* restrict region, __global const Set* restrict x,
                             __global Set* restrict out, const int width, const int height,
                             const ulong pitch) {
  const ulong i = get_global_id(0);
  if (i >= (ulong)width * height) return;
  const int px = (int)(i % width);
  const int py = (int)(i / width);
  const int own = region[i];
  Set sum = (Set)(0.0f);
  if (own != 0) {
    for (uint d = 0; d < DIAGONALS; ++d) {
      const int nx = px + kEntries[d].x;
      const int ny = py + kEntries[d].y;
      if ((uint)nx >= (uint)width || (uint)ny >= (uint)height) continue;
      const ulong j = (ulong)ny * width + nx;
      if (region[j] != own) continue;
      sum += (values[d * pitch + i] * root[j]) * x[j];
    }
    sum *= root[i];
  }
  out[i] = sum;
}
