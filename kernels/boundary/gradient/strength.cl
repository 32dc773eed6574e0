// cue_strength: boundary strength in [0, 1] on the grid. Work-item (x, y) writes element
// y * stride + x: where there is data the value of pixel (x, y), values[y * width + x], as a share
// of the larger of the float whose bits are state[0] and floor_value, at most 1; else 0.
__kernel void cue_strength(__global const float* restrict values,
                           __global const uchar* restrict valid,
                           __global const uint* restrict state, __global float* restrict strength,
                           const int width, const int stride, const float floor_value) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= stride) return;
  const size_t element = (size_t)y * stride + x;
  float result = 0.0f;
  if (x < width && valid[element] != 0) {
    const float value = values[(size_t)y * width + x];
    const float full = max(as_float(state[0]), floor_value);
    // With a floor of 0 in a flat image both are 0.
    result = value < full ? value / full : (value > 0.0f ? 1.0f : 0.0f);
  }
  strength[element] = result;
}
