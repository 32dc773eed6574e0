// gradient_normalize: a boundary map in [0, 1] on the grid. Work-item (x, y) writes element
// y * stride + x: where there is data, the value of pixel (x, y), values[y * width + x], divided by
// the larger of floor_value and the float whose bits are state[0], and limited to 1; elsewhere 0.
__kernel void gradient_normalize(__global const float* restrict values,
                                 __global const uchar* restrict valid,
                                 __global const uint* restrict state,
                                 __global float* restrict boundary, const int width,
                                 const int stride, const float floor_value) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= stride) return;
  const size_t element = (size_t)y * stride + x;
  float result = 0.0f;
  if (x < width && valid[element] != 0) {
    const float value = values[(size_t)y * width + x];
    const float full = max(as_float(state[0]), floor_value);
    // In a flat image with a floor of 0, both `value` and `full` are 0.
    result = value < full ? value / full : (value > 0.0f ? 1.0f : 0.0f);
  }
  boundary[element] = result;
}
