// contact_jacobian: out = D' x, the product with the transposed Jacobian of contacts between rigid
// bodies (the matrix of Tasora and Anitescu, Comput. Methods Appl. Mech. Engrg. 200, 2011, section
// 2). The result is the velocity of body B relative to body A, at the point where they touch, along
// the contact's normal and two tangents. x holds 6 floats for each body, linear and angular
// velocity; out[k * pitch + c] is element k of contact c. bodies[2 c] and bodies[2 c + 1] are the
// bodies A and B of contact c. One work-item computes one contact.
//
// With f_0, f_1, f_2 the contact's orthonormal frame and r_A, r_B the lever arms, row k of contact
// c is -f_k, -(r_A x f_k) for body A and f_k, r_B x f_k for body B: 12 floats, 36 for the three
// rows. How they lie in memory:
//
//   -DSTRUCTURES  the 36 floats of a contact side by side, rows after each other, body A before B
//   -DARRAYS      float i of all contacts side by side, values[i * pitch + c]
//   -DVECTORS     floats 4 j to 4 j + 3 of all contacts side by side, so that the load of a GPU's
//   32
//                 neighbouring work-items is 512 bytes
//   -DARMS        f_0, f_1, r_A, r_B alone, as three such vectors, a third of the bytes. f_2 =
//                 f_0 x f_1, and element k of the product is f_k . (v_B + w_B x r_B - v_A -
//                 w_A x r_A), with v the linear and w the angular velocities

#define VECTOR(j) (((__global const float4*)values)[(j)*pitch + c])

__kernel void contact_jacobian(__global const float* restrict values, const ulong pitch,
                               const ulong contacts, __global const uint* restrict bodies,
                               __global const float* restrict in, __global float* restrict out) {
  const ulong c = get_global_id(0);
  if (c >= contacts) return;
  // The velocities of the two bodies.
  float x[12];
  for (uint i = 0; i < 6; ++i) {
    x[i] = in[6 * (ulong)bodies[2 * c] + i];
    x[6 + i] = in[6 * (ulong)bodies[2 * c + 1] + i];
  }
#ifdef ARMS
  __private const float* a = x;
  __private const float* b = x + 6;
  float v[12];
  for (uint j = 0; j < 3; ++j) {
    const float4 part = VECTOR(j);
    v[4 * j] = part.x;
    v[4 * j + 1] = part.y;
    v[4 * j + 2] = part.z;
    v[4 * j + 3] = part.w;
  }
  // v holds the normal from 0 on, the tangent from 3, the arms from 6 and 9. Everything is scalar:
  // compilers make equal code of it, and simulators that follow every value understand it.
  const float along_x = b[0] - a[0] + (b[4] * v[11] - b[5] * v[10]) - (a[4] * v[8] - a[5] * v[7]);
  const float along_y = b[1] - a[1] + (b[5] * v[9] - b[3] * v[11]) - (a[5] * v[6] - a[3] * v[8]);
  const float along_z = b[2] - a[2] + (b[3] * v[10] - b[4] * v[9]) - (a[3] * v[7] - a[4] * v[6]);
  out[c] = v[0] * along_x + v[1] * along_y + v[2] * along_z;
  out[pitch + c] = v[3] * along_x + v[4] * along_y + v[5] * along_z;
  out[2 * pitch + c] = (v[1] * v[5] - v[2] * v[4]) * along_x +
                       (v[2] * v[3] - v[0] * v[5]) * along_y +
                       (v[0] * v[4] - v[1] * v[3]) * along_z;
#else
  for (uint k = 0; k < 3; ++k) {
    float sum = 0.0f;
#ifdef VECTORS
    for (uint j = 0; j < 3; ++j) {
      const float4 v = VECTOR(3 * k + j);
      sum += v.x * x[4 * j] + v.y * x[4 * j + 1] + v.z * x[4 * j + 2] + v.w * x[4 * j + 3];
    }
#else
    for (uint i = 0; i < 12; ++i) {
#ifdef ARRAYS
      sum += values[(12 * k + i) * pitch + c] * x[i];
#else
      sum += values[36 * c + 12 * k + i] * x[i];
#endif
    }
#endif
    out[k * pitch + c] = sum;
  }
#endif
}
