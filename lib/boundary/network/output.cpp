#include "boundary/network/output.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

void launch_network_output(Context& context, const NetworkPlanes& planes, const Buffer<float>& in,
                           const NetworkCopy& rectangle, const NetworkMap& map) {
  cl::Kernel kernel = context.kernel("boundary/network/output.cl", "network_output", "");
  set_arguments(kernel, in, planes.stride, planes.margin, rectangle.from_x, rectangle.from_y,
                map.values, map.width, rectangle.to_x, rectangle.to_y, rectangle.width);
  launch_rows(context, kernel, static_cast<std::size_t>(rectangle.width),
              static_cast<std::size_t>(rectangle.height));
}

}  // namespace diacut
