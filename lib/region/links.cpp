#include "region/links.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

void launch_region_links(Context& context, const NormalizedMatrix& matrix, Buffer<float>& right,
                         Buffer<float>& down) {
  constexpr std::size_t kGroup = 64;
  const Stencil& stencil = matrix.stencil();
  Kernel kernel = context.kernel(
      "region/links.cl", "region_links",
      fmt::format("-DRIGHT={} -DDOWN={}", stencil.index({1, 0}), stencil.index({0, 1})));
  const Grid grid = matrix.grid();
  set_arguments(kernel, matrix.dia().values, matrix.sqrt_degree(), right, down, grid.width,
                grid.height, static_cast<std::size_t>(grid.stride), matrix.shape().pitch);
  context.launch(kernel, cl::NDRange(round_up(grid.pixels(), kGroup)), cl::NDRange(kGroup));
}

}  // namespace diacut
