// matvec_symmetric_tile: out = A in for a matrix in compressed symmetric form
// (matvec_symmetric.clh), for GPUs: tiles of the image in local memory.
//
// A work-group computes a tile of LX PX by LY PY pixels. It holds the vector's values at these
// pixels and at the RADIUS pixels on each side, zero outside of the image, in local memory, so
// vectors need no padding. A work-item computes PY runs of PX pixels. All bands are
// unrolled, so what remains of a weight is a share of an aligned load, one shift, one mask and a
// fused multiply-add. PARTS work-items, 1, 2 or 4, share the bands of a run, for
// images too small to fill the device.
//
//   SCALED: out = S M S in, with M the compressed matrix and S the diagonal matrix `scale`.
//
// The main diagonal is of floats. Pixel (x, y) is element y * columns + x. Vectors are read UNIT
// floats at a time, 1, or 4 where `columns` is a multiple of it.
//
// -DSTEPS=STEP(part,r,band,earlier)...: each band of later and of earlier neighbours, for each run
// r, and the part that does it. After the article's image kernel: aligned loads, constant swizzles.
#if !defined(LX) || !defined(LY) || !defined(PX) || !defined(PY) || !defined(PARTS) || \
    !defined(UNIT) || !defined(STEPS)
#error "matvec_symmetric_tile needs LX, LY, PX, PY, PARTS, UNIT and STEPS"
#endif
#include "matrix/matvec_store.clh"
#include "matrix/matvec_symmetric.clh"

#define QUADS (PX / 4)
#define HALO ((RADIUS + PX - 1) / PX * PX)
#define TILE_X (LX * PX)
#define TILE_Y (LY * PY)
#define WIDE (TILE_X + 2 * HALO)
#define TALL (TILE_Y + 2 * RADIUS)
// Floats of local memory: the vector's tile, then in its place the sums of each part.
#define TILE_FLOATS (TALL * WIDE)
#define SUM_FLOATS (PARTS * TILE_Y * TILE_X)
#define LOCAL_FLOATS (TILE_FLOATS > SUM_FLOATS ? TILE_FLOATS : SUM_FLOATS)

// Weights of a 32-bit word, and words of an aligned load.
#define PER_WORD (32 / BITS)
#define WORDS(element) \
  ((element) >= 0 ? (element) / PER_WORD : -((PER_WORD - 1 - (element)) / PER_WORD))
#define ALIGNED_WORDS (PX / PER_WORD)
#define MOST_WORDS (ALIGNED_WORDS + (RADIUS + PER_WORD - 1) / PER_WORD + 1)

#if UNIT == 4
typedef float4 unit_t;
#elif UNIT == 1
typedef float unit_t;
#else
#error "matvec_symmetric_tile: UNIT must be 1 or 4"
#endif

// Weight i of a word, times 1 / UNSCALE.
static inline float decode(const uint word, const int i) {
#if BITS == 32
  return as_float(word);
#else
  const int shift = MANTISSA_SHIFT - BITS * i;
  return as_float((shift >= 0 ? word << (shift & 31) : word >> (-shift & 31)) & CODE_MASK);
#endif
}

// words[i - first] = p[i] for i from first to last, by the widest loads that p's alignment allows.
// Loops here have constant bounds: others are not unrolled by all compilers.
static inline void load_words(__global const uint* p, const int first, const int last,
                              uint* words) {
#pragma unroll
  for (int k = 0; k < MOST_WORDS; ++k) {
    const int i = first + k;
    if (i > last) continue;
    const int four = i & ~3;
    const int two = i & ~1;
    if (ALIGNED_WORDS >= 4 && four >= first && four + 3 <= last) {
      if (i != four) continue;
      const uint4 loaded = *(__global const uint4*)(p + i);
      words[k] = loaded.x;
      words[k + 1] = loaded.y;
      words[k + 2] = loaded.z;
      words[k + 3] = loaded.w;
    } else if (ALIGNED_WORDS >= 2 && two >= first && two + 1 <= last) {
      if (i != two) continue;
      const uint2 loaded = *(__global const uint2*)(p + i);
      words[k] = loaded.x;
      words[k + 1] = loaded.y;
    } else {
      words[k] = p[i];
    }
  }
}

// The PX weights that begin `from` elements after p; p is aligned to a run.
static inline void load_weights(__global const uint* p, const int from, float* weights) {
  const int first = WORDS(from);
  uint words[MOST_WORDS];
  load_words(p, first, WORDS(from + PX - 1), words);
#pragma unroll
  for (int i = 0; i < PX; ++i) {
    const int at = from + i - first * PER_WORD;
    weights[i] = decode(words[at / PER_WORD], at % PER_WORD);
  }
}

// Where column `col` of the tile is in a row of local memory, in floats; `first` of a quad.
#define SLOT(quad) (((quad) % QUADS * (WIDE / PX) + (quad) / QUADS) * 4)
#define COLUMN(col) (SLOT((col) / 4) + (col) % 4)

// Adds to the sums of row r of the work-item the terms of its later or earlier neighbours `band`
// rows away. `p` is weight 0 of the item's first pixel, `x` the first of its columns in row 0 of
// the tile.
static inline void add_band(__global const uint* p, __local const float* x, const int band,
                            const int earlier, const int r, float* sums) {
  const int reach = kReach[band];
  const int least = band == 0 ? 1 : -reach;
  const int row = earlier ? r - band : r + band;  // Of x, and of the weights of earlier neighbours.
  float weights[(2 * RADIUS + 1) * PX];
#pragma unroll
  for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
    if (dx < least || dx > reach) continue;
    const long element = ((long)(earlier ? row : r) * UPPER + kFirst[band] + dx - least) * STRIDE;
    load_weights(p + element / PER_WORD, earlier ? -dx : 0, weights + (dx + RADIUS) * PX);
  }
  float near[PX + 2 * HALO];
#pragma unroll
  for (int quad = 0; quad < (PX + 2 * HALO) / 4; ++quad) {
    if (4 * quad + 3 < HALO - reach || 4 * quad >= HALO + PX + reach) continue;
    const float4 loaded = *(__local const float4*)(x + (row + RADIUS) * WIDE + SLOT(quad));
    near[4 * quad] = loaded.x;
    near[4 * quad + 1] = loaded.y;
    near[4 * quad + 2] = loaded.z;
    near[4 * quad + 3] = loaded.w;
  }
#pragma unroll
  for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
    if (dx < least || dx > reach) continue;
#pragma unroll
    for (int i = 0; i < PX; ++i) {
      sums[r * PX + i] += weights[(dx + RADIUS) * PX + i] * near[HALO + i + (earlier ? -dx : dx)];
    }
  }
}

#define STEP(of, r, band, earlier) \
  if (PARTS == 1 || part == of) add_band(p, x, band, earlier, r, sums);

static inline void add_bands(__global const uint* p, __local const float* x, const int part,
                             float* sums) {
  // One statement STEP for each band and run.
  STEPS;
}

__kernel __attribute__((reqd_work_group_size(LX, LY, PARTS))) void matvec(
    __global const uint* restrict upper, __global const float* restrict main_diagonal,
#ifdef SCALED
    __global const float* restrict scale,
#endif
    const int columns, const int height, VECTORS) {
  __local float tile[LOCAL_FLOATS] __attribute__((aligned(16)));
  const int lx = get_local_id(0);
  const int ly = get_local_id(1);
  const int part = get_local_id(2);
  const int left = get_group_id(0) * TILE_X;
  const int top = get_group_id(1) * TILE_Y;

  for (int row = ly + part * LY; row < TALL; row += LY * PARTS) {
    const int y = top + row - RADIUS;
    const long begin = (long)y * columns + left - HALO;
    __local float* to = tile + row * WIDE;
#pragma unroll
    for (int k = 0; k < (WIDE / UNIT + LX - 1) / LX; ++k) {
      const int col = (lx + k * LX) * UNIT;
      if (col >= WIDE) continue;
      const int px = left - HALO + col;
      const bool inside = y >= 0 && y < height && px >= 0 && px < columns;
      unit_t x = 0.0f;
      if (inside) {
        x = *(__global const unit_t*)(in + begin + col);
#ifdef SCALED
        x *= UNSCALE * *(__global const unit_t*)(scale + begin + col);
#else
        x *= UNSCALE;
#endif
      }
      *(__local unit_t*)(to + COLUMN(col)) = x;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  float sums[PY * PX];
#pragma unroll
  for (int i = 0; i < PY * PX; ++i) sums[i] = 0.0f;
  const int own_x = lx * PX;
  const int own_y = ly * PY;
  if (left + own_x < columns && top + own_y < height) {
    __global const uint* p = upper + (WEIGHT_AT((long)top + own_y, 0) + left + own_x) / PER_WORD;
    __local const float* x = tile + own_y * WIDE + lx * 4;
    if (PARTS == 1 || part == 0) add_bands(p, x, 0, sums);
    if (PARTS >= 2 && part == 1) add_bands(p, x, 1, sums);
    if (PARTS >= 4 && part == 2) add_bands(p, x, 2, sums);
    if (PARTS >= 4 && part == 3) add_bands(p, x, 3, sums);
  }

  // Through local memory again, so that neighbouring items store neighbouring pixels.
  barrier(CLK_LOCAL_MEM_FENCE);  // All have read what the sums are going to replace.
#pragma unroll
  for (int r = 0; r < PY; ++r) {
#pragma unroll
    for (int quad = 0; quad < QUADS; ++quad) {
      const float* from = sums + r * PX + 4 * quad;
      __local float* to = tile + (part * TILE_Y + own_y + r) * TILE_X;
      *(__local float4*)(to + (quad * LX + lx) * 4) = (float4)(from[0], from[1], from[2], from[3]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int row = ly + part * LY; row < TILE_Y; row += LY * PARTS) {
    if (top + row >= height) break;
    const ulong begin = (ulong)(top + row) * columns + left;
#pragma unroll
    for (int k = 0; k < (TILE_X / UNIT + LX - 1) / LX; ++k) {
      const int col = (lx + k * LX) * UNIT;
      if (col >= TILE_X || left + col >= columns) continue;
      const int slot = (col / 4 % QUADS * LX + col / PX) * 4 + col % 4;
      __local const float* sum_at = tile + row * TILE_X + slot;
      const ulong at = begin + col;
      const unit_t diagonal = *(__global const unit_t*)(main_diagonal + at);
      unit_t sum = 0.0f;
#pragma unroll
      for (int k = 0; k < PARTS; ++k) {
        sum += *(__local const unit_t*)(sum_at + k * (TILE_Y * TILE_X));
      }
      const unit_t x = *(__global const unit_t*)(in + at);
#ifdef SCALED
      const unit_t factor = *(__global const unit_t*)(scale + at);
      sum = factor * (diagonal * (factor * x) + sum);
#else
      sum += diagonal * x;
#endif
      STORE_AT(((__global unit_t*)out), ((__global const unit_t*)in), at / UNIT, sum);
    }
  }
}
