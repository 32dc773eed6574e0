// affinity_weigh: from intervening contour to affinity, in place, and its mirror image.
//
// Work-item (row, j) does diagonal k = CENTRE + j. It reads the strength ic that
// affinity_contour.cl left in values[k * pitch + row] and writes the weight there, and the same
// bits into the opposite diagonal's entry for the same pair of pixels, values[(2 CENTRE - k) *
// pitch + row + offset]; and zero into those of its own two elements that stand for no pair. So the
// items of one launch write every element of the matrix, each once. offsets[k] is that of diagonal
// k.
//
// The weight is 0 where ic is negative (no pair) and 1 in the middle diagonal. Elsewhere it is
//   LOGISTIC 0: exp(-ic / scale)                     (Arbelaez, Maire, Fowlkes and Malik, Contour
//               detection and hierarchical image segmentation, PAMI 2011, equation 8)
//   LOGISTIC 1: exp(-(1 - p) / scale), p = 1 / (1 + exp(-(bias - slope ic)))     (their program)
#ifndef CENTRE
#error "affinity_weigh.cl: define CENTRE, the stencil's middle entry"
#endif
#ifndef LOGISTIC
#error "affinity_weigh.cl: define LOGISTIC, 0 or 1"
#endif

float weight(const float ic, const float inverse_scale, const float bias, const float slope) {
#if LOGISTIC
  return exp(-inverse_scale / (1.0f + exp(bias - slope * ic)));
#else
  return exp(-inverse_scale * ic);
#endif
}

__kernel void affinity_weigh(__global float* values, __global const long* restrict offsets,
                             const ulong rows, const ulong pitch, const float inverse_scale,
                             const float bias, const float slope) {
  const long row = get_global_id(0);
  const ulong k = CENTRE + get_global_id(1);
  if (row >= (long)pitch) return;
  __global float* forward = values + k * pitch;
  if (k == CENTRE) {
    forward[row] = row < (long)rows && forward[row] >= 0.0f ? 1.0f : 0.0f;
    return;
  }
  __global float* backward = values + (2 * CENTRE - k) * pitch;
  const long offset = offsets[k];
  const bool pair = row < (long)rows && row + offset >= 0 && row + offset < (long)rows;
  const float ic = pair ? forward[row] : -1.0f;
  const float w = ic < 0.0f ? 0.0f : weight(ic, inverse_scale, bias, slope);
  forward[row] = w;
  if (pair) backward[row + offset] = w;
  const bool mirrored = row < (long)rows && row - offset >= 0 && row - offset < (long)rows;
  if (!mirrored) backward[row] = 0.0f;
}
