#include "boundary/network/planes.hpp"

#include <algorithm>

#include "opencl/arguments.hpp"

namespace diacut {

NetworkPlanes network_planes(int width, int height, int margin) {
  // The widest vector of conv.cl, in floats.
  constexpr std::size_t kStep = 16;
  // Rows whose distance is a multiple of this many elements fall into the same few cache sets.
  constexpr std::size_t kAliasing = 512;
  // Two vectors at least: a convolution of stride 2 loads two for one, also of the narrowest image.
  std::size_t stride =
      std::max(2 * kStep, round_up(static_cast<std::size_t>(width) + margin, kStep));
  if (stride % kAliasing == 0) stride += kStep;
  return {width, height, margin, static_cast<int>(stride)};
}

void launch_planes(Context& context, const Kernel& kernel, const NetworkPlanes& planes,
                   int channels) {
  context.launch(kernel,
                 cl::NDRange(round_up(static_cast<std::size_t>(planes.stride), kRowGroup),
                             planes.rows(), static_cast<std::size_t>(channels)),
                 cl::NDRange(kRowGroup, 1, 1));
}

void launch_rows(Context& context, const Kernel& kernel, const NetworkPlanes& planes, int lanes,
                 int channels) {
  if (lanes == 1) return launch_planes(context, kernel, planes, channels);
  context.launch(kernel, cl::NDRange(1, planes.rows(), static_cast<std::size_t>(channels)),
                 cl::NDRange(1, 1, 1));
}

int network_lanes(Context& context) {
  if (context.info().kind != DeviceKind::kCpu) return 1;
  return with_device_errors("asking for the device's vectors", [&] {
    const auto device = context.queue().getInfo<CL_QUEUE_DEVICE>();
    const auto width = device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>();
    return width >= 16 ? 16 : width >= 8 ? 8 : 4;
  });
}

}  // namespace diacut
