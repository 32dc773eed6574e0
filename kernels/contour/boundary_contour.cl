// boundary_contour: the contour map of a boundary map b alone, min(weight * b, 1), as
// spectral_contour.cl computes it where there are no eigenvectors. Work-item i does element i.
__kernel void boundary_contour(__global const float* restrict boundary,
                               __global float* restrict contour, const ulong elements,
                               const float weight) {
  const ulong i = get_global_id(0);
  if (i < elements) contour[i] = fmin(weight * boundary[i], 1.0f);
}
