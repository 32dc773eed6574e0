// copy: out[i] = in[i] for i < count. One work-item moves one ELEMENT (float, float2, float4, ...),
// read and written once each. It is the yardstick of the products: the bandwidth that a kernel on
// this device reaches when it does nothing else.
#ifndef ELEMENT
#error "copy needs ELEMENT"
#endif

__kernel void copy(__global const ELEMENT* restrict in, __global ELEMENT* restrict out,
                   const ulong count) {
  const ulong i = get_global_id(0);
  if (i < count) out[i] = in[i];
}
