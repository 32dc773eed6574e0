#include "boundary/network/resize.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

Kernel kernel_named(Context& context, const char* name) {
  return context.kernel("boundary/network/resize.cl", name, "");
}

void launch(Context& context, const char* name, const NetworkPlanes& from, const Buffer<float>& in,
            const NetworkPlanes& to, Buffer<float>& out, int channels) {
  Kernel kernel = kernel_named(context, name);
  set_arguments(kernel, in, out, from.width, from.height, from.stride, from.margin, from.plane(),
                to.width, to.height, to.stride, to.margin, to.plane());
  launch_planes(context, kernel, to, channels);
}

}  // namespace

Kernel network_resize_kernel(Context& context) { return kernel_named(context, "network_pool"); }

void launch_network_pool(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                         const NetworkPlanes& to, Buffer<float>& out, int channels) {
  launch(context, "network_pool", from, in, to, out, channels);
}

void launch_network_upsample(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                             const NetworkPlanes& to, Buffer<float>& out, int channels) {
  launch(context, "network_upsample", from, in, to, out, channels);
}

}  // namespace diacut
