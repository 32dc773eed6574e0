#include "opencl/launchers/affinity_normalise.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

void launch_affinity_normalise(Context& context, Buffer<float>& values,
                               const Buffer<std::int64_t>& offsets, std::size_t rows,
                               std::size_t pitch, Buffer<float>& sqrt_degree,
                               Buffer<float>& inverse) {
  constexpr char kFile[] = "affinity_normalise.cl";
  cl::Kernel degree = context.kernel(kFile, "affinity_degree", "");
  set_arguments(degree, values, sqrt_degree, inverse, rows, pitch, offsets.size());
  launch_rows(context, degree, rows, 1);
  cl::Kernel normalise = context.kernel(kFile, "affinity_normalise", "");
  set_arguments(normalise, values, inverse, offsets, rows, pitch);
  launch_rows(context, normalise, rows, offsets.size());
}

}  // namespace diacut
