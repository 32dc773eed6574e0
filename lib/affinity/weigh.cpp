#include "affinity/weigh.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

/// Rows that a work-item computes.
std::size_t rows_of_item(const Context& context) {
  return context.info().kind == DeviceKind::kCpu ? 16 : 1;
}

Kernel weigh_kernel(Context& context, std::size_t diagonals, bool logistic) {
  return context.kernel("affinity/weigh.cl", "affinity_weigh",
                        fmt::format("-DCENTRE={} -DLOGISTIC={} -DRUN={}", diagonals / 2,
                                    logistic ? 1 : 0, rows_of_item(context)));
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
  const std::size_t run = rows_of_item(context);
  launch_rows(context, kernel, round_up(pitch, run) / run, centre + 1);
}

}  // namespace diacut
