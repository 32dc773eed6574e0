#include "affinity/weigh.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

namespace {

Kernel weigh_kernel(Context& context, std::size_t diagonals, bool logistic) {
  return context.kernel("affinity/weigh.cl", "affinity_weigh",
                        fmt::format("-DCENTRE={} -DLOGISTIC={} -DRUN={}", diagonals / 2,
                                    logistic ? 1 : 0, vector_run(context.info())));
}

}  // namespace

void request_affinity_weigh(Context& context, std::size_t diagonals, bool logistic) {
  weigh_kernel(context, diagonals, logistic);
}

void launch_affinity_weigh(Context& context, Buffer<float>& values,
                           const Buffer<std::int64_t>& offsets, std::size_t rows, std::size_t pitch,
                           const AffinityWeight& weight) {
  const std::size_t centre = offsets.size() / 2;
  Kernel kernel = weigh_kernel(context, offsets.size(), weight.logistic);
  set_arguments(kernel, values, offsets, rows, pitch, weight.inverse_scale, weight.bias,
                weight.slope);
  const std::size_t run = vector_run(context.info());
  launch_rows(context, kernel, round_up(pitch, run) / run, centre + 1);
}

}  // namespace diacut
