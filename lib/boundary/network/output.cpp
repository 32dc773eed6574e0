#include "boundary/network/output.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

Kernel network_output_kernel(Context& context) {
  return context.kernel("boundary/network/output.cl", "network_output", "");
}

void launch_network_output(Context& context, const NetworkPlanes& planes, const Buffer<float>& in,
                           int channel, const NetworkCopy& rectangle, const NetworkMap& map) {
  Kernel kernel = network_output_kernel(context);
  set_arguments(kernel, in, planes.elements(channel), planes.stride, planes.margin,
                rectangle.from_x, rectangle.from_y, map.values, map.row_length(),
                rectangle.to_x - map.part_x, rectangle.to_y - map.part_y, rectangle.width);
  launch_rows(context, kernel, static_cast<std::size_t>(rectangle.width),
              static_cast<std::size_t>(rectangle.height));
}

}  // namespace diacut
