#include "affinity/weigh.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

void launch_affinity_weigh(Context& context, Buffer<float>& values,
                           const Buffer<std::int64_t>& offsets, std::size_t rows, std::size_t pitch,
                           const AffinityWeight& weight) {
  const std::size_t centre = offsets.size() / 2;
  cl::Kernel kernel =
      context.kernel("affinity/weigh.cl", "affinity_weigh",
                     fmt::format("-DCENTRE={} -DLOGISTIC={}", centre, weight.logistic ? 1 : 0));
  set_arguments(kernel, values, offsets, rows, pitch, weight.inverse_scale, weight.bias,
                weight.slope);
  launch_rows(context, kernel, pitch, centre + 1);
}

}  // namespace diacut
