#include "boundary/network/input.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

Kernel network_input_kernel(Context& context) {
  return context.kernel("boundary/network/input.cl", "network_input", "");
}

void launch_network_input(Context& context, const NetworkPicture& picture, int left, int top,
                          const NetworkPlanes& planes, Buffer<float>& out) {
  Kernel kernel = network_input_kernel(context);
  set_arguments(kernel, picture.pixels, picture.channels, picture.width, picture.height,
                picture.scaled_width, picture.scaled_height, picture.border,
                picture.turn.transposed ? 1 : 0, picture.turn.mirrored_x ? 1 : 0,
                picture.turn.mirrored_y ? 1 : 0, picture.part_x, picture.part_y,
                picture.part_width > 0 ? picture.part_width : picture.width, left, top, out,
                planes.width, planes.height, planes.stride, planes.margin, planes.plane());
  launch_planes(context, kernel, planes, 1);
}

}  // namespace diacut
