#include "affinity/weigh.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

AffinityWeigh::AffinityWeigh(Context& context, std::size_t diagonals, const AffinityWeight& weight)
    : context_(&context),
      weight_(weight),
      kernel_(context.kernel("affinity/weigh.cl", "affinity_weigh",
                             fmt::format("-DCENTRE={} -DLOGISTIC={} -DRUN={}", diagonals / 2,
                                         weight.logistic ? 1 : 0, vector_run(context.info())))) {}

void AffinityWeigh::launch(Buffer<float>& values, const Buffer<std::int64_t>& offsets,
                           std::size_t rows, std::size_t pitch) {
  set_arguments(kernel_, values, offsets, rows, pitch, weight_.inverse_scale, weight_.bias,
                weight_.slope);
  const std::size_t run = vector_run(context_->info());
  launch_rows(*context_, kernel_, round_up(pitch, run) / run, offsets.size() / 2 + 1);
}

}  // namespace diacut
