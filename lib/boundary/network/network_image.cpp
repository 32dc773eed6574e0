#include "boundary/network/network_image.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

namespace {
constexpr char kFile[] = "boundary/network/network_image.cl";
}  // namespace

void launch_network_input(Context& context, const NetworkPicture& picture, int left, int top,
                          const NetworkPlanes& planes, Buffer<float>& out) {
  cl::Kernel kernel = context.kernel(kFile, "network_input", "");
  set_arguments(kernel, picture.pixels, picture.channels, picture.width, picture.height,
                picture.scaled_width, picture.scaled_height, picture.border, left, top, out,
                planes.width, planes.height, planes.stride, planes.margin, planes.plane());
  launch_planes(context, kernel, planes, 1);
}

void launch_network_output(Context& context, const NetworkPlanes& planes, const Buffer<float>& in,
                           const NetworkCopy& rectangle, const NetworkMap& map) {
  cl::Kernel kernel = context.kernel(kFile, "network_output", "");
  set_arguments(kernel, in, planes.stride, planes.margin, rectangle.from_x, rectangle.from_y,
                map.values, map.width, rectangle.to_x, rectangle.to_y, rectangle.width);
  launch_rows(context, kernel, static_cast<std::size_t>(rectangle.width),
              static_cast<std::size_t>(rectangle.height));
}

void launch_network_blend(Context& context, const NetworkMap& map, const CueLayout& layout,
                          const Buffer<std::uint8_t>& valid, float share, bool first,
                          Buffer<float>& strength) {
  cl::Kernel kernel = context.kernel(kFile, "network_blend", "");
  const auto first_pixel = static_cast<cl_ulong>(map.border) * static_cast<cl_ulong>(map.width + 1);
  set_arguments(kernel, map.values, first_pixel, map.width, map.width - 2 * map.border,
                map.height - 2 * map.border, valid, share, first ? 1 : 0, strength, layout.width,
                layout.height, layout.stride);
  launch_rows(context, kernel, static_cast<std::size_t>(layout.stride),
              static_cast<std::size_t>(layout.height));
}

}  // namespace diacut
