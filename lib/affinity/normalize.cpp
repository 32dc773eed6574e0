#include "affinity/normalize.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kNormalizeFile[] = "affinity/normalize.cl";

}  // namespace

void launch_affinity_normalize(Context& context, Buffer<float>& values,
                               const Buffer<std::int64_t>& offsets, std::size_t rows,
                               std::size_t pitch, Buffer<float>& sqrt_degree,
                               Buffer<float>& inverse) {
  Kernel degree = context.kernel(kNormalizeFile, "affinity_degree", "");
  set_arguments(degree, values, sqrt_degree, inverse, rows, pitch, offsets.size());
  launch_rows(context, degree, rows, 1);
  Kernel normalize = context.kernel(kNormalizeFile, "affinity_normalize", "");
  set_arguments(normalize, values, inverse, offsets, rows, pitch);
  launch_rows(context, normalize, rows, offsets.size());
}

}  // namespace diacut
