#include "boundary/network/depthwise.hpp"

#include <fmt/format.h>

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
      kernel_(context.kernel("boundary/network/depthwise.cl", "network_depthwise",
                             fmt::format("-DKERNEL={} -DLANES={}", shape.kernel, lanes_))) {
  weights_.upload(weights);
  bias_.upload(bias);
}

std::size_t NetworkDepthwise::memory(const ConvolutionShape& shape) {
  return static_cast<std::size_t>(shape.outputs) *
         static_cast<std::size_t>(shape.kernel * shape.kernel + 1) * sizeof(float);
}

void NetworkDepthwise::operator()(const NetworkPlanes& planes, const Buffer<float>& in,
                                  const Buffer<float>* added, Buffer<float>& out) {
  set_arguments(kernel_, in, weights_, bias_, added != nullptr ? *added : in, out, planes.width,
                planes.height, planes.stride, planes.margin, planes.plane(), shape_.dilation,
                shape_.relu ? 1 : 0, added != nullptr ? 1 : 0);
  // On a CPU a work-item computes a whole vector; on a GPU the work-items of a group read
  // neighbours.
  const std::size_t group = lanes_ > 1 ? 1 : kRowGroup;
  const std::size_t columns = static_cast<std::size_t>(planes.stride / lanes_);
  context_->launch(kernel_,
                   cl::NDRange(round_up(columns, group), planes.rows(),
                               static_cast<std::size_t>(shape_.outputs)),
                   cl::NDRange(group, 1, 1));
}

}  // namespace diacut
