// matvec_image_copy: whole rows of texels of the image that matvec_image.cl reads, from a vector.
//
// One work-item writes the texel of its two ids. -DWIDTH_LOG2: as there.
#ifndef WIDTH_LOG2
#error "matvec_image_copy needs WIDTH_LOG2"
#endif

__kernel void matvec_image_copy(__global const float4* restrict in, __write_only image2d_t image) {
  const int2 texel = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(image, texel, in[((ulong)texel.y << WIDTH_LOG2) + texel.x]);
}
