// contact_jacobian_arms: a contact is f_0, f_1, r_A, r_B only, as three vectors of four floats, a
// third of the bytes of the whole rows. f_2 = f_0 x f_1, and element k of the product is f_k . (v_B
// + w_B x r_B - v_A - w_A x r_A), with v the linear and w the angular velocities.
#include "spmv/contact_jacobian.clh"

__kernel void contact_jacobian(__global const float* restrict values, const ulong pitch,
                               const ulong contacts, __global const uint* restrict bodies,
                               __global const float* restrict in, __global float* restrict out) {
  const ulong c = get_global_id(0);
  if (c >= contacts) return;
  float u[12];
  load_velocities(in, bodies, c, u);
  __private const float* a = u;
  __private const float* b = u + 6;
  float v[12];
  for (uint j = 0; j < 3; ++j) {
    const float4 part = ((__global const float4*)values)[j * pitch + c];
    v[4 * j] = part.x;
    v[4 * j + 1] = part.y;
    v[4 * j + 2] = part.z;
    v[4 * j + 3] = part.w;
  }
  // v holds the normal from 0 on, the tangent from 3, the arms from 6 and 9. Everything is scalar:
  // compilers make equal code of it, and simulators that follow every value understand it.
  const float x = b[0] - a[0] + (b[4] * v[11] - b[5] * v[10]) - (a[4] * v[8] - a[5] * v[7]);
  const float y = b[1] - a[1] + (b[5] * v[9] - b[3] * v[11]) - (a[5] * v[6] - a[3] * v[8]);
  const float z = b[2] - a[2] + (b[3] * v[10] - b[4] * v[9]) - (a[3] * v[7] - a[4] * v[6]);
  out[c] = v[0] * x + v[1] * y + v[2] * z;
  out[pitch + c] = v[3] * x + v[4] * y + v[5] * z;
  out[2 * pitch + c] = (v[1] * v[5] - v[2] * v[4]) * x + (v[2] * v[3] - v[0] * v[5]) * y +
                       (v[0] * v[4] - v[1] * v[3]) * z;
}
