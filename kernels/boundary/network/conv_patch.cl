// network_conv_patch: the convolution of conv.cl for devices whose work-groups share fast local
// memory, and for taps at most 4 pixels from the middle one.
//
// A work-group computes a patch of (4 * COLUMNS) x (DOWN * ROWS) pixels for CHANNELS * BLOCKS
// output channels. Its work-items (column, row, block, share), numbered in this order, compute 4 x
// DOWN pixels of CHANNELS channels each. The group copies the pixels of DEPTH input channels that
// the patch depends on, and their weights, to local memory and adds their products to sums in
// registers, until all input channels are done. Each value in local memory serves up to 9 taps and
// all channels of the group, each value in a register CHANNELS products (Goto and van de Geijn,
// Anatomy of high-performance matrix multiplication, ACM TOMS 34, 2008). Where a level has too few
// pixels to fill a device, the input channels are divided among SHARES work-items, whose sums are
// added at the end, always in the same order. Work-groups that read the same pixels follow one
// another. Tensors lie as planes.clh says; strides are multiples of 4, and tensors begin at
// multiples of 16 bytes. weights and bias lie as in conv.cl, with 8 outputs in a block.
#include "boundary/network/conv.clh"
#include "boundary/network/planes.clh"
#if !defined(KERNEL) || !defined(DILATION) || !defined(CHANNELS) || !defined(DOWN)
#error "boundary/network/conv_patch.cl needs KERNEL, DILATION, CHANNELS (multiple of 4) and DOWN"
#endif
#if !defined(COLUMNS) || !defined(ROWS) || !defined(BLOCKS) || !defined(SHARES) || !defined(DEPTH)
#error "boundary/network/conv_patch.cl needs COLUMNS, ROWS, BLOCKS, SHARES (power of two), DEPTH"
#endif
#define PACKED 8
#define TAPS (KERNEL * KERNEL)
#define REACH (DILATION * (KERNEL / 2))
// How many pixels before the patch the copies begin, so that they consist of whole vectors.
#define LEAD (REACH > 0 ? 4 : 0)
#define OUTPUTS (CHANNELS * BLOCKS)
#define WIDTH (4 * COLUMNS)
#define HEIGHT (DOWN * ROWS)
// The receptive field of a patch, in vectors of a row and in rows, and of a work-item, in pixels.
#define SEEN_VECTORS ((WIDTH + 2 * LEAD) / 4)
#define SEEN_ROWS (HEIGHT + 2 * REACH)
#define ITEM_WIDTH (4 + 2 * LEAD)
#define ITEM_HEIGHT (DOWN + 2 * REACH)
#define PLACES (COLUMNS * ROWS * BLOCKS)
#define ITEMS (PLACES * SHARES)
#define SUMS (DOWN * CHANNELS)
#define SEEN_SIZE (DEPTH * SEEN_ROWS * SEEN_VECTORS)
#define SUMS_SIZE (SHARES / 2 * PLACES * SUMS)
#if REACH > 4 || CHANNELS % 4 != 0 || OUTPUTS % PACKED != 0
#error \
    "boundary/network/conv_patch.cl: taps reach too far, or CHANNELS * BLOCKS is no multiple of 8"
#endif

// Copies the receptive field of the patch from (left, top) on in `depth` planes from `in` on.
// Beyond the end of a plane it repeats the end, on which no pixel of the image depends.
inline void copy_seen(__local float4* seen, __global const float* restrict in, const int depth,
                      const int left, const int top, const int height, const int stride,
                      const int margin, const size_t plane) {
#pragma unroll 1
  for (int i = (int)get_local_id(0); i < depth * (SEEN_ROWS * SEEN_VECTORS); i += ITEMS) {
    const int k = i / (SEEN_ROWS * SEEN_VECTORS);
    const int y = min(top + i / SEEN_VECTORS % SEEN_ROWS - REACH, height + margin - 1);
    const int x = min(left + i % SEEN_VECTORS * 4 - LEAD, stride - 4);
    seen[i] = *(__global const float4*)(in + k * plane + ROW_OF(y, margin, stride) + x);
  }
}

// Copies the weights of the output channels of the group for `depth` of `all` input channels, from
// channel `from` on, one tap after another. A block beyond the last one repeats the last block; its
// sums are not stored.
inline void copy_weights(__local float4* taps, __global const float* restrict weights,
                         const int depth, const int from, const int all, const int first_block,
                         const int last_block) {
#pragma unroll 1
  for (int i = (int)get_local_id(0); i < depth * TAPS * (OUTPUTS / 4); i += ITEMS) {
    const int block = min(first_block + i % (OUTPUTS / 4) / (PACKED / 4), last_block);
    const int tap = from * TAPS + i / (OUTPUTS / 4);
    taps[i] = *(__global const float4*)(weights + ((size_t)block * all * TAPS + tap) * PACKED +
                                        i % (PACKED / 4) * 4);
  }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void network_conv_patch(
    CONVOLUTION_PARAMETERS) {
  __local float4 shared[SEEN_SIZE > SUMS_SIZE ? SEEN_SIZE : SUMS_SIZE];
  __local float4 taps[DEPTH * TAPS * (OUTPUTS / 4)];
  const int item = (int)get_local_id(0);
  const int column = item % COLUMNS;
  const int row = item / COLUMNS % ROWS;
  const int place = item % PLACES;
  const int block = place / (COLUMNS * ROWS);
  const int share = item / PLACES;
  const int first = (int)get_group_id(0) * OUTPUTS;
  const int left = (int)get_group_id(1) * WIDTH;
  // Patches of one image follow one another.
  const int patches = (height + HEIGHT - 1) / HEIGHT;
  const int top = (int)get_group_id(2) % patches * HEIGHT;
  const size_t image =
      (size_t)((int)get_group_id(2) / patches) * PLANE_ROWS(height, margin) * stride;

  float sums[DOWN][4][CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    const int channel = first + block * CHANNELS + c;
    const float start = share == 0 && channel < channels ? bias[channel] : 0.0f;
#pragma unroll
    for (int i = 0; i < DOWN * 4; ++i) sums[i / 4][i % 4][c] = start;
  }

#pragma unroll 1
  for (int from = 0; from < inputs; from += DEPTH) {
    const int depth = min(DEPTH, inputs - from);
    barrier(CLK_LOCAL_MEM_FENCE);
    copy_seen(shared, in + from * plane + image, depth, left, top, height, stride, margin, plane);
    copy_weights(taps, weights, depth, from, inputs, first / PACKED, (channels - 1) / PACKED);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int k = share; k < depth; k += SHARES) {
      float seen[ITEM_HEIGHT][ITEM_WIDTH];
#pragma unroll
      for (int i = 0; i < ITEM_HEIGHT * (ITEM_WIDTH / 4); ++i) {
        const int y = i / (ITEM_WIDTH / 4);
        const int x = i % (ITEM_WIDTH / 4);
        const float4 four = shared[(k * SEEN_ROWS + row * DOWN + y) * SEEN_VECTORS + column + x];
        seen[y][4 * x] = four.x;
        seen[y][4 * x + 1] = four.y;
        seen[y][4 * x + 2] = four.z;
        seen[y][4 * x + 3] = four.w;
      }
#pragma unroll
      for (int tap = 0; tap < TAPS; ++tap) {
        const int to_x = LEAD - REACH + tap % KERNEL * DILATION;
        const int to_y = tap / KERNEL * DILATION;
#pragma unroll
        for (int c = 0; c < CHANNELS; c += 4) {
          const float4 weight = taps[((k * TAPS + tap) * OUTPUTS + block * CHANNELS + c) / 4];
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
    __local float4* passed = shared + share % takers * (PLACES * SUMS) + place;
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
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    const int channel = first + block * CHANNELS + c;
    if (channel >= channels) break;
    const size_t at = channel * plane + image + x;
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
      const int y = top + row * DOWN + i;
      if (y >= height) break;
      const size_t here = at + ROW_OF(y, margin, stride);
      float4 value = (float4)(sums[i][0][c], sums[i][1][c], sums[i][2][c], sums[i][3][c]);
      if (add) value += *(__global const float4*)(added + here);
      if (relu) value = min(max(value, 0.0f), most);
      *(__global float4*)(out + here) =
          select((float4)(0.0f), value, x + (int4)(0, 1, 2, 3) < width);
    }
    // The margins above and below.
    for (int i = row; i < margin + 1; i += ROWS) {
      if (top == 0) *(__global float4*)(out + at + (size_t)i * stride) = (float4)(0.0f);
      if (top + HEIGHT >= height) {
        *(__global float4*)(out + at + ROW_OF(height + i, margin, stride)) = (float4)(0.0f);
      }
    }
  }
}
