#include "boundary/network/resize.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

void launch(Context& context, const char* name, const NetworkPlanes& from, const Buffer<float>& in,
            const NetworkPlanes& to, Buffer<float>& out, int channels) {
  cl::Kernel kernel = context.kernel("boundary/network/resize.cl", name, "");
  set_arguments(kernel, in, out, from.width, from.height, from.stride, from.margin, from.plane(),
                to.width, to.height, to.stride, to.margin, to.plane());
  launch_planes(context, kernel, to, channels);
}

}  // namespace

void launch_network_pool(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                         const NetworkPlanes& to, Buffer<float>& out, int channels) {
  launch(context, "network_pool", from, in, to, out, channels);
}

void launch_network_upsample(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                             const NetworkPlanes& to, Buffer<float>& out, int channels) {
  launch(context, "network_upsample", from, in, to, out, channels);
}

}  // namespace diacut
