// network_conv_patch: a convolution of stride 1 for devices whose work-groups share fast local
// memory, and for taps at most 4 pixels from the middle one.
//
// A work-group computes a patch of (4 * COLUMNS) x (DOWN * ROWS) pixels for CHANNELS * BLOCKS
// output channels. Its work-items (column, row, block, share), numbered in this order, compute 4 x
// DOWN pixels of CHANNELS channels each. The group copies the pixels of DEPTH input channels that
// the patch depends on to local memory and adds their products with the weights to sums in
// registers, until all input channels are done. Each value in local memory serves up to 9 taps and
// all channels of the group, each value in a register CHANNELS products (Goto and van de Geijn,
// Anatomy of high-performance matrix multiplication, ACM TOMS 34, 2008). Nothing is copied for a
// single tap: a work-item reads DEPTH input channels at a time. Where a level has too few pixels to
// fill a device, the input channels are divided among SHARES work-items, whose sums are added at
// the end, always in the same order. Work-groups that read the same pixels follow one another.
// Tensors lie as planes.clh says; strides are multiples of 4, and tensors begin at multiples of 16
// bytes. A block of weights has 8 outputs.
#include "boundary/network/conv.clh"
#include "boundary/network/planes.clh"
#if !defined(KERNEL) || !defined(DILATION) || !defined(CHANNELS) || !defined(DOWN)
#error "boundary/network/conv_patch.cl needs KERNEL, DILATION, CHANNELS (4 or 8) and DOWN"
#endif
#if !defined(COLUMNS) || !defined(ROWS) || !defined(BLOCKS) || !defined(SHARES) || !defined(DEPTH)
#error "boundary/network/conv_patch.cl needs COLUMNS, ROWS, BLOCKS, SHARES (power of two), DEPTH"
#endif
#define PACKED 8
#define TAPS (KERNEL * KERNEL)
#define REACH (DILATION * (KERNEL / 2))
#define OUTPUTS (CHANNELS * BLOCKS)
#define WIDTH (4 * COLUMNS)
#define HEIGHT (DOWN * ROWS)
#define PLACES (COLUMNS * ROWS * BLOCKS)
#define ITEMS (PLACES * SHARES)
#define SUMS (DOWN * CHANNELS)
// What a work-item depends on, in vectors of a row and in rows.
#define ITEM_VECTORS ((4 + 2 * REACH + 3) / 4)
#define ITEM_ROWS (DOWN + 2 * REACH)
// What a patch depends on, with rows of whole vectors, and how much of it a work-item copies.
#define SEEN_VECTORS (COLUMNS - 1 + ITEM_VECTORS)
#define SEEN_ROWS (HEIGHT + 2 * REACH)
#define COPIES ((4 * SEEN_VECTORS * SEEN_ROWS + ITEMS - 1) / ITEMS)
#if TAPS > 1
#define SEEN_SIZE (DEPTH * COPIES * ITEMS)
#define TOGETHER DEPTH
#define UNROLLED 1
#else
#define SEEN_SIZE 0
#define TOGETHER inputs
#define UNROLLED DEPTH
#endif
#define SUMS_SIZE (4 * (SHARES / 2) * PLACES * SUMS)
#if REACH > 4 || OUTPUTS % PACKED != 0 || ITEMS % 4 != 0
#error "boundary/network/conv_patch.cl: taps reach too far, or the tile is not whole"
#endif

// The place in a plane of a pixel that the patch depends on. Beyond the end of a plane it is the
// end, on which no pixel of the image depends.
inline int place_of(const int x, const int y, const int height, const int stride, const int margin,
                    const int vector) {
  return (int)ROW_OF(min(y, height + margin - 1), margin, stride) + min(x, stride - vector);
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void network_conv_patch(
    CONVOLUTION_PARAMETERS) {
#if TAPS > 1 || SHARES > 1
  __local float shared[SEEN_SIZE > SUMS_SIZE ? SEEN_SIZE : SUMS_SIZE] __attribute__((aligned(16)));
#endif
  const int item = (int)get_local_id(0);
  const int column = item % COLUMNS;
  const int row = item / COLUMNS % ROWS;
  const int place = item % PLACES;
  const int block = place / (COLUMNS * ROWS);
  const int share = item / PLACES;
  const int first = (int)get_group_id(0) * OUTPUTS + block * CHANNELS;
  const int left = (int)get_group_id(1) * WIDTH;
  // Patches of one image follow one another.
  const int patches = (height + HEIGHT - 1) / HEIGHT;
  const int top = (int)get_group_id(2) % patches * HEIGHT;
  const size_t image =
      (size_t)((int)get_group_id(2) / patches) * PLANE_ROWS(height, margin) * stride;

  float sums[DOWN][4][CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    const float start = share == 0 && first + c < channels ? bias[first + c] : 0.0f;
#pragma unroll
    for (int i = 0; i < DOWN * 4; ++i) sums[i / 4][i % 4][c] = start;
  }

#if TAPS > 1
  int places[COPIES];
#pragma unroll
  for (int i = 0; i < COPIES; ++i) {
    const int pixel = item + i * ITEMS;
    places[i] = place_of(left + pixel % (4 * SEEN_VECTORS) - REACH,
                         top + pixel / (4 * SEEN_VECTORS) - REACH, height, stride, margin, 1);
  }
#else
  int places[DOWN];
#pragma unroll
  for (int i = 0; i < DOWN; ++i) {
    places[i] = place_of(left + 4 * column, top + row * DOWN + i, height, stride, margin, 4);
  }
#endif
  // The sums of a block beyond the last one, which repeats the last one, are not stored.
  __global const float* weight_of =
      weights + (size_t)min(first / PACKED, (channels - 1) / PACKED) * inputs * (TAPS * PACKED) +
      first % PACKED;
#pragma unroll 1
  for (int from = 0; from < inputs; from += TOGETHER) {
    const int depth = min(TOGETHER, inputs - from);
#if TAPS > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
    for (int k = 0; k < depth; ++k) {
      __global const float* plane_of = in + (from + k) * plane + image;
#pragma unroll
      for (int i = 0; i < COPIES; ++i) {
        shared[(k * COPIES + i) * ITEMS + item] = plane_of[places[i]];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#pragma unroll UNROLLED
    for (int k = share; k < depth; k += SHARES) {
      float seen[ITEM_ROWS][4 * ITEM_VECTORS];
#pragma unroll
      for (int i = 0; i < ITEM_ROWS * ITEM_VECTORS; ++i) {
        const int y = i / ITEM_VECTORS;
        const int x = i % ITEM_VECTORS;
#if TAPS > 1
        const float4 four =
            ((__local const float4*)
                 shared)[k * (COPIES * ITEMS / 4) + column + x + (row * DOWN + y) * SEEN_VECTORS];
#else
        const float4 four = *(__global const float4*)(in + k * plane + image + places[y]);
#endif
        seen[y][4 * x] = four.x;
        seen[y][4 * x + 1] = four.y;
        seen[y][4 * x + 2] = four.z;
        seen[y][4 * x + 3] = four.w;
      }
#pragma unroll
      for (int tap = 0; tap < TAPS; ++tap) {
        const int to_x = tap % KERNEL * DILATION;
        const int to_y = tap / KERNEL * DILATION;
#pragma unroll
        for (int c = 0; c < CHANNELS; c += 4) {
          const float4 weight =
              *(__global const float4*)(weight_of + ((from + k) * TAPS + tap) * PACKED + c);
#pragma unroll
          for (int i = 0; i < DOWN * 4; ++i) {
            const float value = seen[i / 4 + to_y][i % 4 + to_x];
            sums[i / 4][i % 4][c] = fma(weight.x, value, sums[i / 4][i % 4][c]);
            sums[i / 4][i % 4][c + 1] = fma(weight.y, value, sums[i / 4][i % 4][c + 1]);
            sums[i / 4][i % 4][c + 2] = fma(weight.z, value, sums[i / 4][i % 4][c + 2]);
            sums[i / 4][i % 4][c + 3] = fma(weight.w, value, sums[i / 4][i % 4][c + 3]);
          }
        }
      }
    }
  }

#if SHARES > 1
  // Half of the shares pass their sums to the other half, until one share has the whole sums.
#pragma unroll
  for (int takers = SHARES / 2; takers > 0; takers /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    __local float4* passed = (__local float4*)shared + share % takers * (PLACES * SUMS) + place;
    if (share >= takers && share < 2 * takers) {
#pragma unroll
      for (int i = 0; i < SUMS; ++i) {
        passed[i * PLACES] =
            (float4)(sums[i / CHANNELS][0][i % CHANNELS], sums[i / CHANNELS][1][i % CHANNELS],
                     sums[i / CHANNELS][2][i % CHANNELS], sums[i / CHANNELS][3][i % CHANNELS]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (share < takers) {
#pragma unroll
      for (int i = 0; i < SUMS; ++i) {
        const float4 more = passed[i * PLACES];
        sums[i / CHANNELS][0][i % CHANNELS] += more.x;
        sums[i / CHANNELS][1][i % CHANNELS] += more.y;
        sums[i / CHANNELS][2][i % CHANNELS] += more.z;
        sums[i / CHANNELS][3][i % CHANNELS] += more.w;
      }
    }
  }
  if (share != 0) return;
#endif

  const int x = left + 4 * column;
  if (x >= stride) return;
  const size_t at = first * plane + image + ROW_OF(top + row * DOWN, margin, stride) + x;
  const int last = min(CHANNELS, channels - first);
  const int rows = min(DOWN, height - top - row * DOWN);
  if (add) {
    // Before anything is stored, so that the reads wait together: `out` may be `added`.
#pragma unroll
    for (int i = 0; i < SUMS; ++i) {
      const int c = i / DOWN;
      const int y = i % DOWN;
      if (c >= last || y >= rows) continue;
      const float4 more = *(__global const float4*)(added + at + c * plane + (size_t)y * stride);
      sums[y][0][c] += more.x;
      sums[y][1][c] += more.y;
      sums[y][2][c] += more.z;
      sums[y][3][c] += more.w;
    }
  }
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    if (c >= last) break;
    __global float* to = out + at + c * plane;
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
      if (i >= rows) break;
      float4 value = (float4)(sums[i][0][c], sums[i][1][c], sums[i][2][c], sums[i][3][c]);
      if (relu) value = min(max(value, 0.0f), most);
      *(__global float4*)(to + (size_t)i * stride) =
          select((float4)(0.0f), value, x + (int4)(0, 1, 2, 3) < width);
    }
    // The margins above and below.
    to = out + (first + c) * plane + image + x;
    for (int i = row; i < margin + 1; i += ROWS) {
      if (top == 0) *(__global float4*)(to + (size_t)i * stride) = (float4)(0.0f);
      if (top + HEIGHT >= height) {
        *(__global float4*)(to + ROW_OF(height + i, margin, stride)) = (float4)(0.0f);
      }
    }
  }
}
