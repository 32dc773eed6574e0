#include "boundary/gradient/quantile.hpp"

#include <algorithm>
#include <array>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {
constexpr std::size_t kState = 2;
constexpr std::size_t kCounts = 256;
}  // namespace

Buffer<std::uint32_t> exact_quantile(Context& context, const Grid& grid,
                                     const Buffer<float>& values, const Buffer<std::uint8_t>& valid,
                                     std::uint32_t rank) {
  constexpr char kFile[] = "boundary/gradient/quantile.cl";
  // Enough work-groups to fill a GPU; each adds its counts to the common counts once.
  constexpr std::size_t kMaxGroups = 1024;
  const std::size_t group = std::min<std::size_t>(128, context.info().max_work_group);
  const std::size_t groups = std::min(static_cast<std::size_t>(grid.height), kMaxGroups);

  auto state = context.allocate<std::uint32_t>(kState, "the state of the search for a quantile");
  state.upload(std::array<std::uint32_t, kState>{0, rank});
  auto counts = context.allocate<std::uint32_t>(kCounts, "counts for a quantile");
  counts.fill(0);
  Kernel count = context.kernel(kFile, "quantile_count", "");
  Kernel select = context.kernel(kFile, "quantile_select", "");
  set_arguments(select, state, counts);
  for (int pass = 0; pass < 4; ++pass) {
    set_arguments(count, values, valid, state, counts, grid.width, grid.height, grid.stride, pass);
    context.launch(count, cl::NDRange(groups * group), cl::NDRange(group));
    context.launch(select, cl::NDRange(group), cl::NDRange(group));
  }
  return state;
}

}  // namespace diacut
