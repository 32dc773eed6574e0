// block_cycle: the lower end of a multigrid V-cycle (Briggs, Henson and McCormick 2000) for a block
// of vectors (block.clh) at once: about the inverse of I - A times b on a grid so small that a
// work-group holds it, with the dense inverse on the grid of every other row and column. For each
// column, from x = 0,
//
//   x += smoother[k] (b - (I - A) x)   for both k
//   x += E M factor E' (b - (I - A) x)
//   x += smoother[k] (b - (I - A) x)   for both k
//
// M being `inverse` and E the interpolation E_iJ = gain_i A_iJ of coarsen.cl. Launched one by one,
// the kernels of block products, transfers and lobpcg that compute the same result take a GPU
// much longer to start than to run.
//
// A work-group computes VEC columns of one image of a batch: those from VEC * its first id on, of
// the image in segment active[its second id]. An item has the elements lid + k GROUP of the image,
// at most PER of them, and what only it needs of them in registers; `fine` holds what others read,
// with GUARD elements of zeros before and after it, in place of neighbours that do not exist: those
// that do not, but lie in another image row, have weights of 0. On the coarse grid `parts` items
// share an element. Sums are in an order that does not depend on VEC, on the other columns or on
// the other images, nor on how much padding there is between them.
//
// A is in pitched DIA form (grid_matrix.clh) on `height` image rows, `stride` elements apart, of
// segments of `segment_height` rows; those in between become 0.
//
// -DBANDS=BAND(first diagonal, dy, first dx, number of diagonals)... of the disc, one for each dy;
// -DREACH, the largest |dx| and |dy|; -DGROUP, the items of a work-group; -DPER.
#if !defined(BANDS) || !defined(REACH) || !defined(GROUP) || !defined(PER)
#error "block_cycle needs BANDS, REACH, GROUP and PER, beside what block.clh needs"
#endif
#ifdef BITS
#error "block_cycle does not know compressed matrices"
#endif
#include "matrix/block.clh"

// Several programs, of one VEC each, have to give the same.
#pragma OPENCL FP_CONTRACT OFF

#define GUARD (REACH * stride + REACH)

// For the elements of an item, the i-th of which is `row`.
#define FOR_OWN_ROWS \
  UNROLL             \
  for (int i = 0, row = lid; i < PER && row < rows; ++i, row += GROUP)

// One row of A, whose weights begin at `weights`, times what is around `own`.
static Set product(__global const float* weights, const ulong pitch, const int stride,
                   __local const Set* own) {
  Set sum = (Set)(0.0f);
#define BAND(d, dy, dx, count)                                                   \
  {                                                                              \
    __global const float* a = weights + (d)*pitch;                               \
    __local const Set* p = own + (dy)*stride + (dx);                             \
    UNROLL                                                                       \
    for (int k = 0; k < (count); ++k) sum = fma((Set)(a[k * pitch]), p[k], sum); \
  }
  BANDS
#undef BAND
  return sum;
}

// The same with every parts-th band only, from the one at `part` on.
static Set part_of_product(__global const float* weights, const ulong pitch, const int stride,
                           __local const Set* own, const int part, const int parts) {
  Set sum = (Set)(0.0f);
#define BAND(d, dy, dx, count)                                                   \
  if (((dy) + REACH) % parts == part) {                                          \
    __global const float* a = weights + (d)*pitch;                               \
    __local const Set* p = own + (dy)*stride + (dx);                             \
    UNROLL                                                                       \
    for (int k = 0; k < (count); ++k) sum = fma((Set)(a[k * pitch]), p[k], sum); \
  }
  BANDS
#undef BAND
  return sum;
}

// Row (px, py) of A, but for the columns that the coarse grid does not keep, times `coarse`.
static Set interpolated(__global const float* weights, const ulong pitch, const int px,
                        const int py, __local const Set* coarse, const int coarse_width,
                        const int coarse_height) {
  Set sum = (Set)(0.0f);
#define BAND(d, dy, dx, count)                                                       \
  if (((py + (dy)) & 1) == 0) {                                                      \
    __local const Set* line =                                                        \
        coarse + clamp((py + (dy)) / 2, 0, coarse_height - 1) * coarse_width;        \
    const int odd = (px + (dx)) & 1;                                                 \
    UNROLL                                                                           \
    for (int k = 0; k < (count); k += 2) {                                           \
      if (k + odd < (count))                                                         \
        sum = fma((Set)(weights[((d) + k + odd) * pitch]),                           \
                  line[clamp((px + (dx) + k + odd) / 2, 0, coarse_width - 1)], sum); \
    }                                                                                \
  }
  BANDS
#undef BAND
  return sum;
}

// Row `row` of the symmetric M, `pitch` wide, times the elements of `coarse` in [begin, end).
static Set part_of_dense(__global const float* inverse, const uint pitch, const int row,
                         __local const Set* coarse, const int begin, const int end) {
  Set sum = (Set)(0.0f);
  // Neighbouring rows read neighbouring words.
  __global const float* a = inverse + row;
  int c = begin;
  for (; c + 8 <= end; c += 8) {
    float weights[8];
    UNROLL
    for (int k = 0; k < 8; ++k) weights[k] = a[(c + k) * pitch];
    UNROLL
    for (int k = 0; k < 8; ++k) sum = fma((Set)(weights[k]), coarse[c + k], sum);
  }
  for (; c < end; ++c) sum = fma((Set)(a[c * pitch]), coarse[c], sum);
  return sum;
}

// coarse[J] = scale * the sum of its parts.
static void join_parts(__local const Set* partials, const int parts, const int coarse_rows,
                       const float scale, __local Set* coarse) {
  for (int at = get_local_id(0); at < coarse_rows; at += GROUP) {
    Set sum = partials[at];
    for (int part = 1; part < parts; ++part) sum += partials[part * coarse_rows + at];
    coarse[at] = scale * sum;
  }
}

#define SHARE_OWN(value)             \
  barrier(CLK_LOCAL_MEM_FENCE);      \
  FOR_OWN_ROWS image[row] = (value); \
  barrier(CLK_LOCAL_MEM_FENCE);

#define RESIDUAL ((product(values + row, pitch, stride, image + row) - own_x[i]) + own_b[i])

#define SMOOTH(weight) FOR_OWN_ROWS own_x[i] = fma((Set)(weight), RESIDUAL, own_x[i]);

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void block_cycle(
    __global const float* restrict values, const ulong pitch, __global const float* restrict gain,
    const int width, const int height, const int stride, const int segment_height,
    __global const float* restrict inverse, const float smoother_0, const float smoother_1,
    const float factor, __global const int* restrict active, const int parts, const uint sets,
    __global const Set* restrict b, __global Set* restrict x, __local Set* fine,
    __local Set* partials, __local Set* coarse) {
  const int lid = get_local_id(0);
  const ulong segment = active[get_group_id(1)];
  const int rows = height * stride;
  const ulong first = segment * (ulong)segment_height * stride;
  const int coarse_width = (width + 1) / 2;
  const int coarse_height = (height + 1) / 2;
  const int coarse_rows = coarse_width * coarse_height;
  // A segment has an even number of image rows, or is all there is.
  const uint inverse_pitch = coarse_width * ((segment_height + 1) / 2);
  values += first;
  gain += first;
  inverse += segment * inverse_pitch * inverse_pitch;
  b += first * sets + get_group_id(0);
  x += first * sets + get_group_id(0);
  __local Set* image = fine + GUARD;

  for (int at = lid; at < GUARD; at += GROUP) {
    fine[at] = (Set)(0.0f);
    image[rows + at] = (Set)(0.0f);
  }
  Set own_b[PER];
  Set own_x[PER];
  FOR_OWN_ROWS {
    own_b[i] = b[row * sets];
    own_x[i] = smoother_0 * own_b[i];  // The first step.
  }
  SHARE_OWN(own_x[i])
  SMOOTH(smoother_1)
  SHARE_OWN(own_x[i])

  Set rest[PER];
  FOR_OWN_ROWS rest[i] = gain[row] * RESIDUAL;
  SHARE_OWN(rest[i])
  for (int at = lid; at < parts * coarse_rows; at += GROUP) {
    const int part = at / coarse_rows;
    const int element = at - part * coarse_rows;
    const int cy = element / coarse_width;
    const int row = 2 * (cy * stride + element - cy * coarse_width);
    partials[at] = part_of_product(values + row, pitch, stride, image + row, part, parts);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  join_parts(partials, parts, coarse_rows, factor, coarse);
  barrier(CLK_LOCAL_MEM_FENCE);
  const int share = (coarse_rows + parts - 1) / parts;
  for (int at = lid; at < parts * coarse_rows; at += GROUP) {
    const int part = at / coarse_rows;
    partials[at] = part_of_dense(inverse, inverse_pitch, at - part * coarse_rows, coarse,
                                 part * share, min((part + 1) * share, coarse_rows));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  join_parts(partials, parts, coarse_rows, 1.0f, coarse);
  barrier(CLK_LOCAL_MEM_FENCE);
  FOR_OWN_ROWS {
    const int py = row / stride;
    const Set sum = interpolated(values + row, pitch, row - py * stride, py, coarse, coarse_width,
                                 coarse_height);
    own_x[i] = fma((Set)(gain[row]), sum, own_x[i]);
  }

  SHARE_OWN(own_x[i])
  SMOOTH(smoother_0)
  SHARE_OWN(own_x[i])
  SMOOTH(smoother_1)
  FOR_OWN_ROWS x[row * sets] = own_x[i];
  for (int row = rows + lid; row < segment_height * stride; row += GROUP)
    x[row * sets] = (Set)(0.0f);
}
