#include "boundary/network/conv_strided.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

NetworkConvStrided::NetworkConvStrided(Context& context, const ConvolutionShape& shape,
                                       const std::vector<float>& weights,
                                       const std::vector<float>& bias)
    : context_(&context),
      shape_(shape),
      lanes_(network_lanes(context)),
      weights_(context, shape, weights, bias),
      kernel_(context.kernel("boundary/network/conv_strided.cl", "network_conv_strided",
                             fmt::format("-DKERNEL={} -DLANES={}", shape.kernel, lanes_))) {}

void NetworkConvStrided::operator()(const NetworkPlanes& from, const Buffer<float>& in,
                                    const NetworkPlanes& to, const Buffer<float>* added,
                                    Buffer<float>& out) {
  set_arguments(kernel_, in, shape_.inputs, weights_.weights, weights_.bias,
                added != nullptr ? *added : in, out, shape_.outputs, from.stride, from.margin,
                from.plane(), to.width, to.height, to.stride, to.margin, to.plane(),
                shape_.before(), shape_.relu ? 1 : 0, shape_.most, added != nullptr ? 1 : 0);
  launch_rows(*context_, kernel_, to, lanes_, static_cast<int>(ConvolutionWeights::blocks(shape_)));
}

}  // namespace diacut
