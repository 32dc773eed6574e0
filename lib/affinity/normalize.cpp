#include "affinity/normalize.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kNormalizeFile[] = "affinity/normalize.cl";

}  // namespace

NormalizeKernels::NormalizeKernels(Context& context)
    : degree(context.kernel(kNormalizeFile, "affinity_degree", "")),
      normalize(context.kernel(kNormalizeFile, "affinity_normalize", "")) {}

void launch_affinity_normalize(Context& context, Buffer<float>& values,
                               const Buffer<std::int64_t>& offsets, std::size_t rows,
                               std::size_t pitch, Buffer<float>& sqrt_degree,
                               Buffer<float>& inverse) {
  NormalizeKernels kernels(context);
  set_arguments(kernels.degree, values, sqrt_degree, inverse, rows, pitch, offsets.size());
  launch_rows(context, kernels.degree, rows, 1);
  set_arguments(kernels.normalize, values, inverse, offsets, rows, pitch);
  launch_rows(context, kernels.normalize, rows, offsets.size());
}

}  // namespace diacut
