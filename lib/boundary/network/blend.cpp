#include "boundary/network/blend.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

void launch_network_blend(Context& context, const NetworkMap& map, const Grid& grid,
                          const Buffer<std::uint8_t>& valid, float share, bool first,
                          Buffer<float>& boundary) {
  cl::Kernel kernel = context.kernel("boundary/network/blend.cl", "network_blend", "");
  const auto first_pixel = static_cast<cl_ulong>(map.border) * static_cast<cl_ulong>(map.width + 1);
  set_arguments(kernel, map.values, first_pixel, map.width, map.width - 2 * map.border,
                map.height - 2 * map.border, valid, share, first ? 1 : 0, boundary, grid.width,
                grid.height, grid.stride);
  launch_rows(context, kernel, static_cast<std::size_t>(grid.stride),
              static_cast<std::size_t>(grid.height));
}

}  // namespace diacut
