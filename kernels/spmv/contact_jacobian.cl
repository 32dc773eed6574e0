// contact_jacobian: out = D' x for contacts between rigid bodies: the velocity of body B relative
// to body A's, at the point where they touch, along the contact's normal and two tangents. x holds
// 6 floats a body, linear velocity and angular; out 3 floats a contact, out[k * pitch + c].
//
// One work-item computes one contact. With f_0, f_1, f_2 the contact's frame (orthonormal) and r_A,
// r_B the lever arms, row k of contact c is -f_k, -(r_A x f_k) for body A and f_k, r_B x f_k for
// body B: 36 floats. -DLAYOUT:
//   0  structures: the 36 floats of a contact side by side, rows after each other, A before B
//   1  arrays: float i of all contacts side by side, values[i * pitch + c]
//   2  vectors: the same by four, values4[j * pitch + c], so that a warp's load is 512 bytes
//   3  arms: f_0, f_1, r_A, r_B only, as 3 vectors of four; f_2 = f_0 x f_1, and row k is
//      f_k . (v_B + w_B x r_B - v_A - w_A x r_A): a third of the bytes
// bodies[2 c] and bodies[2 c + 1] are the bodies of contact c. (The matrix is that of Tasora and
// Anitescu, Comput. Methods Appl. Mech. Engrg. 200, 2011, section 2.)
#ifndef LAYOUT
#error "contact_jacobian needs LAYOUT"
#endif

__kernel void contact_jacobian(__global const float* restrict values, const ulong pitch,
                               const ulong contacts, __global const uint* restrict bodies,
                               __global const float* restrict in, __global float* restrict out) {
  const ulong c = get_global_id(0);
  if (c >= contacts) return;
  __global const float* a = in + 6 * (ulong)bodies[2 * c];
  __global const float* b = in + 6 * (ulong)bodies[2 * c + 1];
#if LAYOUT == 3
  float v[12];
  for (uint j = 0; j < 3; ++j) {
    const float4 part = ((__global const float4*)values)[j * pitch + c];
    v[4 * j] = part.x;
    v[4 * j + 1] = part.y;
    v[4 * j + 2] = part.z;
    v[4 * j + 3] = part.w;
  }
  // v holds the normal from 0 on, the tangent from 3, the arms from 6 and 9. All in scalars: what
  // the compiler makes of it is the same, and simulators that follow every value understand it.
  const float x = b[0] - a[0] + (b[4] * v[11] - b[5] * v[10]) - (a[4] * v[8] - a[5] * v[7]);
  const float y = b[1] - a[1] + (b[5] * v[9] - b[3] * v[11]) - (a[5] * v[6] - a[3] * v[8]);
  const float z = b[2] - a[2] + (b[3] * v[10] - b[4] * v[9]) - (a[3] * v[7] - a[4] * v[6]);
  out[c] = v[0] * x + v[1] * y + v[2] * z;
  out[pitch + c] = v[3] * x + v[4] * y + v[5] * z;
  out[2 * pitch + c] = (v[1] * v[5] - v[2] * v[4]) * x + (v[2] * v[3] - v[0] * v[5]) * y +
                       (v[0] * v[4] - v[1] * v[3]) * z;
#else
  float x[12];
  for (uint i = 0; i < 6; ++i) {
    x[i] = a[i];
    x[6 + i] = b[i];
  }
  for (uint k = 0; k < 3; ++k) {
    float sum = 0.0f;
#if LAYOUT == 0
    for (uint i = 0; i < 12; ++i) sum += values[36 * c + 12 * k + i] * x[i];
#elif LAYOUT == 1
    for (uint i = 0; i < 12; ++i) sum += values[(12 * k + i) * pitch + c] * x[i];
#else
    for (uint j = 0; j < 3; ++j) {
      const float4 v = ((__global const float4*)values)[(3 * k + j) * pitch + c];
      sum += v.x * x[4 * j] + v.y * x[4 * j + 1] + v.z * x[4 * j + 2] + v.w * x[4 * j + 3];
    }
#endif
    out[k * pitch + c] = sum;
  }
#endif
}
