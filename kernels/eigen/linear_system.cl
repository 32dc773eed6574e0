// linear_system: vector operations of conjugate gradients for one linear system A x = b with a
// preconditioner that is a diagonal matrix (M. Hestenes and E. Stiefel 1952). A work-item does one
// element.

// x += alpha p, r -= alpha q, z = inverse r.
__kernel void system_step(const float alpha, __global const float* restrict p,
                          __global const float* restrict q, __global const float* restrict inverse,
                          const ulong rows, __global float* restrict x, __global float* restrict r,
                          __global float* restrict z) {
  const ulong i = get_global_id(0);
  if (i >= rows) return;
  x[i] = fma(alpha, p[i], x[i]);
  r[i] = fma(-alpha, q[i], r[i]);
  z[i] = inverse[i] * r[i];
}

// p = z + beta p.
__kernel void system_direction(const float beta, __global const float* restrict z, const ulong rows,
                               __global float* restrict p) {
  const ulong i = get_global_id(0);
  if (i < rows) p[i] = fma(beta, p[i], z[i]);
}
