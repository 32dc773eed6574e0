#include "boundary/network/blend.hpp"

#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

Kernel network_blend_kernel(Context& context) {
  return context.kernel("boundary/network/blend.cl", "network_blend", "");
}

void launch_network_blend(Context& context, const NetworkMap& map, const Turn& turn,
                          const Grid& grid, const Buffer<std::uint8_t>& valid, float share,
                          bool first, Buffer<float>& boundary, const PictureView& view) {
  Kernel kernel = network_blend_kernel(context);
  int width = map.width - 2 * map.border;
  int height = map.height - 2 * map.border;
  int step_x = 1;
  int step_y = map.row_length();
  if (turn.transposed) {
    std::swap(width, height);
    std::swap(step_x, step_y);
  }
  auto first_pixel = static_cast<std::int64_t>(map.border - map.part_y) * map.row_length() +
                     map.border - map.part_x;
  if (turn.mirrored_x) {
    first_pixel += static_cast<std::int64_t>(width - 1) * step_x;
    step_x = -step_x;
  }
  if (turn.mirrored_y) {
    first_pixel += static_cast<std::int64_t>(height - 1) * step_y;
    step_y = -step_y;
  }
  set_arguments(kernel, map.values, static_cast<std::size_t>(first_pixel), step_x, step_y, width,
                height, valid, share, first ? 1 : 0, boundary, grid.width, grid.stride, view.x,
                view.y, view.width, view.height);
  launch_rows(context, kernel, static_cast<std::size_t>(grid.stride),
              static_cast<std::size_t>(grid.height));
}

void launch_network_blend(Context& context, const NetworkMap& map, const Turn& turn,
                          const Grid& grid, const Buffer<std::uint8_t>& valid, float share,
                          bool first, Buffer<float>& boundary) {
  launch_network_blend(context, map, turn, grid, valid, share, first, boundary,
                       whole_picture(grid));
}

}  // namespace diacut
