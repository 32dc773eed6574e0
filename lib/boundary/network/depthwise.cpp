#include "boundary/network/depthwise.hpp"

#include <fmt/format.h>

#include "boundary/network/conv.hpp"
#include "opencl/arguments.hpp"

namespace diacut {

NetworkDepthwise::NetworkDepthwise(Context& context, const ConvolutionShape& shape,
                                   const std::vector<float>& weights,
                                   const std::vector<float>& bias)
    : context_(&context),
      shape_(shape),
      lanes_(network_lanes(context)),
      weights_(context.allocate<float>(weights.size(), "the network's weights")),
      bias_(context.allocate<float>(bias.size(), "the network's weights")),
      kernel_(context.kernel(
          "boundary/network/depthwise.cl", "network_depthwise",
          fmt::format("-DKERNEL={} -DSTRIDE={} -DLANES={}", shape.kernel, shape.stride, lanes_))) {
  weights_.upload(weights);
  bias_.upload(bias);
}

std::size_t NetworkDepthwise::memory(const ConvolutionShape& shape) {
  return static_cast<std::size_t>(shape.outputs) * static_cast<std::size_t>(shape.taps() + 1) *
         sizeof(float);
}

void NetworkDepthwise::operator()(const NetworkPlanes& from, const Buffer<float>& in,
                                  const NetworkPlanes& to, const Buffer<float>* added,
                                  Buffer<float>& out) {
  set_arguments(kernel_, in, weights_, bias_, added != nullptr ? *added : in, out, from.stride,
                from.margin, from.plane(), to.width, to.height, to.stride, to.margin, to.plane(),
                shape_.kernel / 2 - shape_.shift, shape_.dilation, shape_.relu ? 1 : 0, shape_.most,
                added != nullptr ? 1 : 0);
  launch_rows(*context_, kernel_, to, lanes_, shape_.outputs);
}

}  // namespace diacut
