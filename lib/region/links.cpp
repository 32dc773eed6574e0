#include "region/links.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

void launch_region_links(Context& context, const RegionLayout& layout, std::size_t right_diagonal,
                         std::size_t down_diagonal, const Buffer<float>& values,
                         const Buffer<float>& root, Buffer<float>& right, Buffer<float>& down) {
  constexpr std::size_t kGroup = 64;
  cl::Kernel kernel =
      context.kernel("region/links.cl", "region_links",
                     fmt::format("-DRIGHT={} -DDOWN={}", right_diagonal, down_diagonal));
  set_arguments(kernel, values, root, right, down, layout.width, layout.height, layout.stride,
                layout.pitch);
  context.launch(kernel, cl::NDRange(round_up(layout.pixels(), kGroup)), cl::NDRange(kGroup));
}

}  // namespace diacut
