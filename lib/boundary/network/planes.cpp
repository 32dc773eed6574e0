#include "boundary/network/planes.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

NetworkPlanes network_planes(int width, int height, int margin) {
  // The widest vector of conv.cl, in floats.
  constexpr std::size_t kStep = 16;
  // Rows whose distance is a multiple of this many elements fall into the same few cache sets.
  constexpr std::size_t kAliasing = 512;
  std::size_t stride = round_up(static_cast<std::size_t>(width) + margin, kStep);
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

}  // namespace diacut
