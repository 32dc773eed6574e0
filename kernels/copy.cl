// copy: out[i] = in[i] for i < COUNT4 float4 values. The device's own bandwidth, which every product
// is measured against: one work-item moves one float4 (16 bytes read, 16 written).
__kernel void copy(__global const float4* restrict in, __global float4* restrict out,
                   const ulong count) {
  const ulong i = get_global_id(0);
  if (i < count) out[i] = in[i];
}
