// matvec_symmetric_run: out = A in for a matrix in compressed symmetric form
// (matvec_symmetric.clh), for CPUs: runs of an image row, without local memory.
//
// A work-item computes a block of COLUMNS by ROWS pixels. It first copies the vector's values at
// these pixels and at the RADIUS pixels on each side, zero outside of the image,
// into private memory that stays in the first cache. Then it goes along each row, 16 pixels at a
// time in a vector whose sums stay in registers over all bands.
//
//   SCALED: out = S M S in, with M the compressed matrix and S the diagonal matrix `scale`.
//
// The main diagonal is of floats. Pixel (x, y) is element y * image_columns + x.
#if !defined(COLUMNS) || !defined(ROWS) || !defined(BANDS)
#error "matvec_symmetric_run needs COLUMNS, ROWS and BANDS"
#endif
#include "matrix/matvec_store.clh"
#include "matrix/matvec_symmetric.clh"

#define LANES 16
#define HALO ((RADIUS + LANES - 1) / LANES * LANES)
#define WIDE (COLUMNS + 2 * HALO)
#define TALL (ROWS + 2 * RADIUS)

// Floats that are not aligned are read as the member of a packed structure, which compilers turn
// into one load; they take vload16 apart.
typedef struct __attribute__((packed)) {
  float16 value;
} packed_floats;
typedef struct __attribute__((packed)) {
  WEIGHT16_T value;
} packed_weights;

static inline float16 load(const float* p) { return ((const packed_floats*)p)->value; }

// 16 weights, times 1 / UNSCALE.
static inline float16 decode(__global const WEIGHT_T* p) {
  const WEIGHT16_T codes = ((__global const packed_weights*)p)->value;
#if BITS == 32
  return codes;
#else
  return as_float16(convert_uint16(codes) << MANTISSA_SHIFT);
#endif
}

// Adds to the sums of 16 pixels the terms of their neighbours `band` rows below and above: to two
// sums, because otherwise each addition would wait for the product before it. `p` points to weight
// 0 of the first pixel, `x` to the first pixel in the copy of the vector.
static inline void add_band(__global const WEIGHT_T* p, const float* x, const int band,
                            float16* sums) {
  const int reach = kReach[band];
  const int least = band == 0 ? 1 : -reach;
  __global const WEIGHT_T* later = p + (long)kFirst[band] * STRIDE;
  __global const WEIGHT_T* earlier = later - (long)band * UPPER * STRIDE;
#pragma unroll
  for (int dx = least; dx <= reach; ++dx) {
    const float16 below = decode(later + (long)(dx - least) * STRIDE);
    const float16 above = decode(earlier + (long)(dx - least) * STRIDE - dx);
    sums[0] += below * load(x + band * WIDE + dx);
    sums[1] += above * load(x - band * WIDE - dx);
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void matvec(
    __global const WEIGHT_T* restrict upper, __global const float* restrict main_diagonal,
#ifdef SCALED
    __global const float* restrict scale,
#endif
    const int image_columns, const int height, VECTORS) {
  float tile[TALL * WIDE];
  float sums[COLUMNS];
  const long left = (long)get_global_id(0) * COLUMNS;
  const long top = (long)get_global_id(1) * ROWS;
  const long columns = min((long)COLUMNS, image_columns - left);
  const long rows = min((long)ROWS, height - top);
  const long count = (columns + LANES - 1) / LANES * LANES;

  // Columns from `begin` to `end` of the copy lie in the image.
  const long begin = left == 0 ? HALO : HALO - RADIUS;
  const long end = min(HALO + count + RADIUS, HALO + image_columns - left);
  for (long row = 0; row < rows + 2 * RADIUS; ++row) {
    float* to = tile + row * WIDE;
    const long y = top + row - RADIUS;
    if (y < 0 || y >= height) {
      for (long i = 0; i < count + 2 * HALO; ++i) to[i] = 0.0f;
      continue;
    }
    const long at = y * image_columns + left - HALO;
    __global const float* from = in + at;
    for (long i = 0; i < begin; ++i) to[i] = 0.0f;
#ifdef SCALED
    for (long i = begin; i < end; ++i) to[i] = UNSCALE * scale[at + i] * from[i];
#else
    for (long i = begin; i < end; ++i) to[i] = UNSCALE * from[i];
#endif
    for (long i = end; i < count + 2 * HALO; ++i) to[i] = 0.0f;
  }

  for (long row = 0; row < rows; ++row) {
    __global const WEIGHT_T* p = upper + WEIGHT_AT(top + row, 0) + left;
    const float* x = tile + (row + RADIUS) * WIDE + HALO;
    for (long i = 0; i < count; i += LANES) {
      float16 sum[2] = {0.0f, 0.0f};
#define BAND(band) add_band(p + i, x + i, band, sum);
      BANDS
#undef BAND
          ((packed_floats*)(sums + i))
              ->value = sum[0] + sum[1];
    }
    const long at = (top + row) * image_columns + left;
    for (long i = 0; i < columns; ++i) {
#ifdef SCALED
      const float factor = scale[at + i];
      const float sum = factor * (main_diagonal[at + i] * (factor * in[at + i]) + sums[i]);
#else
      const float sum = main_diagonal[at + i] * in[at + i] + sums[i];
#endif
      STORE(at + i, sum);
    }
  }
}
