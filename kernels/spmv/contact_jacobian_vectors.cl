// contact_jacobian_vectors: floats 4 j to 4 j + 3 of all contacts side by side, so that the load of
// a GPU's 32 neighbouring work-items is 512 bytes.
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
    for (uint j = 0; j < 3; ++j) {
      const float4 v = ((__global const float4*)values)[(3 * k + j) * pitch + c];
      sum += v.x * x[4 * j] + v.y * x[4 * j + 1] + v.z * x[4 * j + 2] + v.w * x[4 * j + 3];
    }
    out[k * pitch + c] = sum;
  }
}
