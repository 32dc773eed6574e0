// contact_jacobian_arrays: float i of all contacts side by side, values[i * pitch + c].
#include "spmv/contact_jacobian.clh"

__kernel void contact_jacobian(__global const float* restrict values, const ulong pitch,
                               const ulong contacts, __global const uint* restrict bodies,
                               __global const float* restrict in, __global float* restrict out) {
  const ulong c = get_global_id(0);
  if (c >= contacts) return;
  float x[12];
  load_velocities(in, bodies, c, x);
  for (uint k = 0; k < 3; ++k) {
    float sum = 0.0f;
    for (uint i = 0; i < 12; ++i) sum += values[(12 * k + i) * pitch + c] * x[i];
    out[k * pitch + c] = sum;
  }
}
