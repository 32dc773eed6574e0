// Steps of the eigensolver for contours (lib/solver/eigen/decimation/decimation.hpp). Matrices and
// vectors lie in planes with a margin (PlaneGrid in lib/solver/matrix/interpolation.hpp), so that
// neighbours are read without checks of bounds; images of a batch lie one after another. Diagonal d
// of a matrix is values[d * pitch + element], which multiplies x[element + offset of d]. What is
// "kept", a cell, a parity and a neighbour is told at KeptNeighbours there.
//
// MARGIN_X, MARGIN_Y: columns on the left and rows above that are no pixels. DIAGONALS: of a
// matrix. NEIGHBOURS: of all parities. WIDTH: see floatw.clh. EACH: columns of vectors that a
// work-item computes.
#ifndef NEIGHBOURS
#error "eigen/decimation needs -DNEIGHBOURS, -DDIAGONALS, -DMARGIN_X, -DMARGIN_Y, -DWIDTH, -DEACH"
#endif

#include "common/floatw.clh"

// decimation_split: the affinities of each pixel to the kept ones, as kept_affinity.cl has them,
// out of a matrix. Work-item (x, y, p + 4 image) writes the elements of one cell, for the pixel of
// parity p. neighbours[k]: of neighbour k the cells dx and dy, and its diagonal. first[p]: the
// first neighbour of parity p.
__kernel void decimation_split(__global const float* restrict values, const int width,
                               const int height, const int stride, const ulong pitch,
                               __global const int4* restrict neighbours,
                               __global const int* restrict first, __global float* restrict weights,
                               __global float* restrict roots, const int cell_stride,
                               const int cell_rows, const ulong cell_pitch) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  const int parity = (int)get_global_id(2) & 3;
  const ulong image = get_global_id(2) >> 2;
  if (x >= cell_stride) return;
  const size_t cell = (size_t)y * cell_stride + x;
  weights += image * NEIGHBOURS * cell_pitch + cell;
  const int column = 2 * (x - MARGIN_X) + (parity & 1);
  const int row = 2 * (y - MARGIN_Y) + (parity >> 1);
  const bool inside = column >= 0 && column < width && row >= 0 && row < height;
  values += image * DIAGONALS * pitch;
  if (inside) values += (size_t)(row + MARGIN_Y) * stride + column + MARGIN_X;
  float sum = 0.0f;
  for (int k = first[parity]; inside && k < first[parity + 1]; ++k) {
    sum += values[neighbours[k].z * pitch];
  }
  const float root = sum > 0.0f ? 1.0f / sqrt(sum) : 0.0f;
  for (int k = first[parity]; k < first[parity + 1]; ++k) {
    weights[k * cell_pitch] = inside ? root * values[neighbours[k].z * pitch] : 0.0f;
  }
  roots[(image * 4 + parity) * cell_pitch + cell] = root;
}

// decimation_product: the matrix of the kept pixels, (W_c)_JK = sum over i of W_iJ W_iK / w_i.
// Work-item (i, d, y + height image) computes WIDTH elements of row y, margin rows left out, of
// diagonal DIAGONALS / 2 + d, and those of the opposite diagonal for the same pairs: all diagonals
// of a row follow one another, so that a CPU's cache has the weights that they share. Every
// element of a row that is no margin is written once. terms[starts[d]] to terms[starts[d + 1] - 1]:
// where W_iJ and W_iK of some pixel i lie in the weights, from element J of the first plane on.
// offsets[d]: from J to K, in cells.
__kernel void decimation_product(__global const float* restrict weights,
                                 __global const long2* restrict terms,
                                 __global const int* restrict starts,
                                 __global const int2* restrict offsets,
                                 __global float* restrict values, const int height,
                                 const int stride, const ulong pitch) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int d = (int)get_global_id(1);
  const int y = (int)get_global_id(2) % height;
  const ulong image = get_global_id(2) / height;
  if (x >= stride) return;
  const size_t element = (size_t)(y + MARGIN_Y) * stride + x;
  weights += image * NEIGHBOURS * pitch + element;
  values += image * DIAGONALS * pitch + element;
  floatw sum = (floatw)(0.0f);
  for (int t = starts[d]; t < starts[d + 1]; ++t) {
    const long2 term = terms[t];
    sum += LOADW(weights + term.x) * LOADW(weights + term.y);
  }
  STOREW(sum, values + (DIAGONALS / 2 + d) * pitch);
  if (d == 0) return;
  const int dx = offsets[d].x;
  const int dy = offsets[d].y;
  __global float* opposite = values + (DIAGONALS / 2 - d) * pitch;
  if (y < dy) STOREW((floatw)(0.0f), opposite);
  if (y + dy >= height) return;
  __global float* to = opposite + (dy * (long)stride + dx);
  if (x + dx >= 0 && x + dx + WIDTH <= stride) {
    STOREW(sum, to);
    return;
  }
  lanesw lanes;
  lanes.all = sum;
  for (int i = 0; i < WIDTH; ++i) {
    if (x + i + dx >= 0 && x + i + dx < stride) to[i] = lanes.lane[i];
  }
}

// decimation_step: a step of a polynomial of L = I - D^-1 W. Work-item (i, y, group + groups image)
// computes WIDTH elements of row y, margins left out, of EACH vectors: out = alpha L x + beta x +
// gamma before, with (alpha, beta, gamma) = steps[step * images + image]. `out` may be `before`.
// The sums of the rows of W become degrees. offsets[d]: of diagonal d, in elements.
__kernel void decimation_step(__global const float* restrict values,
                              __global const int* restrict offsets, __global const float* x,
                              __global const float* before, __global float* out,
                              __global float* restrict degrees,
                              __global const float4* restrict steps, const int step,
                              const int images, const int groups, const int width, const int stride,
                              const ulong pitch) {
  const int i = (int)get_global_id(0) * WIDTH + MARGIN_X;
  const int group = (int)get_global_id(2) % groups;
  const ulong image = get_global_id(2) / groups;
  if (i >= MARGIN_X + width) return;
  const size_t element = (size_t)(get_global_id(1) + MARGIN_Y) * stride + i;
  values += image * DIAGONALS * pitch + element;
  const size_t own = (image * groups + group) * EACH * pitch + element;
  floatw sums[EACH];
  for (int k = 0; k < EACH; ++k) sums[k] = (floatw)(0.0f);
  floatw degree = (floatw)(0.0f);
  for (int d = 0; d < DIAGONALS; ++d) {
    const floatw a = LOADW(values + d * pitch);
    __global const float* from = x + (own + offsets[d]);
    degree += a;
    for (int k = 0; k < EACH; ++k) sums[k] += a * LOADW(from + k * pitch);
  }
  const float4 factors = steps[step * images + image];
  for (int k = 0; k < EACH; ++k) {
    const size_t at = own + k * pitch;
    const floatw value = LOADW(x + at);
    const floatw laplacian = degree > 0.0f ? value - sums[k] / degree : (floatw)(0.0f);
    STOREW(factors.x * laplacian + factors.y * value + factors.z * LOADW(before + at), out + at);
  }
  if (group == 0) STOREW(degree, degrees + (image * pitch + element));
}

// decimation_interpolate: work-item (i, y, (image * 4 + p) * groups + group) interpolates EACH
// vectors to the pixels of parity p of WIDTH cells of row y. Pixel (x, y) of vector k of an image
// becomes element origin + y * stride + x of fine, the vectors being `fine_pitch` apart.
// neighbours, first: as decimation_split has them.
__kernel void decimation_interpolate(
    __global const float* restrict weights, __global const float* restrict roots,
    __global const int4* restrict neighbours, __global const int* restrict first,
    __global const float* restrict coarse, __global float* restrict fine, const int groups,
    const int cell_stride, const ulong cell_pitch, const int width, const int height,
    const int stride, const ulong fine_pitch, const ulong origin) {
  const int x = (int)get_global_id(0) * WIDTH;
  const int y = (int)get_global_id(1);
  const int group = (int)get_global_id(2) % groups;
  const int parity = (int)get_global_id(2) / groups & 3;
  const ulong image = get_global_id(2) / groups >> 2;
  const int row = 2 * y + (parity >> 1);
  if (x >= cell_stride || row >= height) return;
  const size_t cell = (size_t)(y + MARGIN_Y) * cell_stride + x;
  weights += image * NEIGHBOURS * cell_pitch + cell;
  coarse += (image * groups + group) * EACH * cell_pitch + cell;
  fine += (image * groups + group) * EACH * fine_pitch + origin + (size_t)row * stride;
  floatw sums[EACH];
  for (int k = 0; k < EACH; ++k) sums[k] = (floatw)(0.0f);
  for (int e = first[parity]; e < first[parity + 1]; ++e) {
    const floatw w = LOADW(weights + e * cell_pitch);
    __global const float* from = coarse + (neighbours[e].y * (long)cell_stride + neighbours[e].x);
    for (int k = 0; k < EACH; ++k) sums[k] += w * LOADW(from + k * cell_pitch);
  }
  const floatw root = LOADW(roots + (image * 4 + parity) * cell_pitch + cell);
  const int left = 2 * (x - MARGIN_X) + (parity & 1);
  for (int k = 0; k < EACH; ++k) {
    lanesw lanes;
    lanes.all = sums[k] * root;
    for (int i = 0; i < WIDTH; ++i) {
      const int column = left + 2 * i;
      if (column >= 0 && column < width) fine[k * fine_pitch + column] = lanes.lane[i];
    }
  }
}
