#include "opencl/launchers/region_links.hpp"

#include <fmt/format.h>

namespace diacut {

void launch_region_links(Context& context, const RegionLayout& layout, std::size_t right_diagonal,
                         std::size_t down_diagonal, const Buffer<float>& values,
                         const Buffer<float>& root, Buffer<float>& right, Buffer<float>& down) {
  constexpr std::size_t kGroup = 64;
  cl::Kernel kernel =
      context.kernel("region_links.cl", "region_links",
                     fmt::format("-DRIGHT={} -DDOWN={}", right_diagonal, down_diagonal));
  with_device_errors("binding the links between neighbours", [&] {
    kernel.setArg(0, values.cl());
    kernel.setArg(1, root.cl());
    kernel.setArg(2, right.cl());
    kernel.setArg(3, down.cl());
    kernel.setArg(4, static_cast<cl_ulong>(layout.width));
    kernel.setArg(5, static_cast<cl_ulong>(layout.height));
    kernel.setArg(6, static_cast<cl_ulong>(layout.stride));
    kernel.setArg(7, static_cast<cl_ulong>(layout.pitch));
  });
  context.launch(kernel, cl::NDRange(round_up(layout.pixels(), kGroup)), cl::NDRange(kGroup));
}

}  // namespace diacut
