// transfer_elements: the transfers of transfer.clh for compressed matrices on GPUs. A work-item
// computes one element of the fine or of the coarse grid.
#include "eigen/multilevel/transfer_element.clh"

__kernel void block_prolong(PROLONG_PARAMETERS) {
  const uint item = get_global_id(0);
  const uint set = item % SETS;
  const ulong inside = item / SETS;
  if (inside >= (ulong)stride * segment_height) return;
  const ulong row = (ulong)active[get_global_id(1)] * segment_height * stride + inside;
  const ulong at = row * SETS + set;
  const int px = (int)(row % stride);
  const int py = (int)(row / stride);
  const float scale = gain[row];
  Set sum = (Set)(0.0f);
  if (scale != 0.0f)
    sum = scale * interpolated(MATRIX_ARGUMENTS, width, height, row, px, py, coarse, set, sets);
  STORE_FINE(at, sum);
}

__kernel void block_restrict(RESTRICT_PARAMETERS) {
  const int coarse_width = (width + 1) / 2;
  int cx;
  int cy;
  uint set;
  if (!coarse_element(coarse_width, active, segment_height, sets, &cx, &cy, &set)) return;
  const Set sum =
      restricted(MATRIX_ARGUMENTS, gain, width, height, stride, 2 * cx, 2 * cy, fine, set, sets);
  coarse[((ulong)cy * coarse_width + cx) * SETS + set] = factor * sum;
}
