// control: reads, writes and arithmetic that do nothing else: the yardsticks of every other kernel.
// -DELEMENT: the type that a work-item moves, float, float2, ... float16.
//
// control_read: every work-item reads STEPS elements, get_global_size(0) elements apart. It writes
// their sum only if the sum is negative, which it never is: so no compiler removes the reads, and
// nothing is written.
// control_copy: out[i] = in[i] for i < count. One work-item moves one ELEMENT, read and written
// once each. It is the yardstick of the products: the bandwidth that a kernel on this device
// reaches when it does nothing else. control_write: every work-item writes STEPS elements,
// get_global_size(0) elements apart. control_flops: every work-item does STEPS times 16 fused
// multiply-adds in 8 independent chains of ELEMENT: a CPU that begins two operations in a cycle and
// ends each after four cycles keeps eight under way.
#if !defined(ELEMENT) || !defined(STEPS)
#error "control needs ELEMENT and STEPS"
#endif

// The sum of the components. They are read from memory, so that this source serves every width.
static float total(const ELEMENT value) {
  const float* parts = (const float*)&value;
  float sum = 0.0f;
  for (uint i = 0; i < sizeof(ELEMENT) / sizeof(float); ++i) sum += parts[i];
  return sum;
}

__kernel void control_read(__global const ELEMENT* restrict in, __global float* restrict out) {
  const ulong items = get_global_size(0);
  __global const ELEMENT* from = in + get_global_id(0);
  ELEMENT sum = 0.0f;
#pragma unroll
  for (ulong i = 0; i < STEPS; ++i) sum += from[i * items];
  const float all = total(sum);
  if (all == -1.0f) out[0] = all;  // All that is read is positive.
}

__kernel void control_copy(__global const ELEMENT* restrict in, __global ELEMENT* restrict out,
                           const ulong count) {
  const ulong i = get_global_id(0);
  if (i < count) out[i] = in[i];
}

__kernel void control_write(__global ELEMENT* restrict out, const float value) {
  const ulong items = get_global_size(0);
  __global ELEMENT* to = out + get_global_id(0);
  const ELEMENT each = value + (float)get_local_id(0);
#pragma unroll
  for (ulong i = 0; i < STEPS; ++i) to[i * items] = each;
}

__kernel void control_flops(__global float* restrict out, const float factor) {
  const float start = (float)get_local_id(0);
  ELEMENT a = start;
  ELEMENT b = start + 1.0f;
  ELEMENT c = start + 2.0f;
  ELEMENT d = start + 3.0f;
  ELEMENT e = start + 4.0f;
  ELEMENT f = start + 5.0f;
  ELEMENT g = start + 6.0f;
  ELEMENT h = start + 7.0f;
  const ELEMENT by = factor;
  for (int i = 0; i < STEPS; ++i) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      a = mad(a, by, by);
      b = mad(b, by, by);
      c = mad(c, by, by);
      d = mad(d, by, by);
      e = mad(e, by, by);
      f = mad(f, by, by);
      g = mad(g, by, by);
      h = mad(h, by, by);
    }
  }
  const float all = total(a + b + c + d + e + f + g + h);
  if (all == -1.0f) out[0] = all;
}
