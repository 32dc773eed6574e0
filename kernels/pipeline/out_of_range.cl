// out_of_range: looks for a value that is neither 0 nor in [least, most], as no NaN is. Work-item i
// writes element i of `values` to `found`, where it is such a value; of several any one stays.
__kernel void out_of_range(__global const float* restrict values, const ulong count,
                           const float least, const float most, __global float* restrict found) {
  const size_t i = get_global_id(0);
  if (i >= count) return;
  const float value = values[i];
  if (!(value >= least && value <= most) && value != 0.0f) *found = value;
}
