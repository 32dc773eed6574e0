#include "opencl/launchers/network_conv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr int kGpuGroup = 32;
/// Work-items below which a large GPU is not busy: less work for each then.
constexpr std::size_t kEnoughItems = 65'536;

std::size_t block_count(int outputs) {
  return round_up(static_cast<std::size_t>(outputs), NetworkConv::kChannels) /
         NetworkConv::kChannels;
}

std::size_t weight_count(const ConvolutionShape& shape) {
  return block_count(shape.outputs) * NetworkConv::kChannels *
         static_cast<std::size_t>(shape.inputs) *
         static_cast<std::size_t>(shape.kernel * shape.kernel);
}

/// As network_conv.cl reads them.
std::vector<float> packed(const ConvolutionShape& shape, const std::vector<float>& weights) {
  std::vector<float> result(weight_count(shape), 0.0f);
  const int taps = shape.kernel * shape.kernel;
  for (int output = 0; output < shape.outputs; ++output) {
    const int block = output / NetworkConv::kChannels;
    for (int input = 0; input < shape.inputs; ++input) {
      for (int tap = 0; tap < taps; ++tap) {
        const auto from = (static_cast<std::size_t>(output) * shape.inputs + input) * taps + tap;
        const auto to = ((static_cast<std::size_t>(block) * shape.inputs + input) * taps + tap) *
                            NetworkConv::kChannels +
                        output % NetworkConv::kChannels;
        result[to] = weights[from];
      }
    }
  }
  return result;
}

std::size_t columns_of(const ConvolutionTile& tile, const NetworkPlanes& planes) {
  const auto step = static_cast<std::size_t>(tile.lanes * tile.vectors * tile.group);
  return round_up(static_cast<std::size_t>(planes.stride), step) / step *
         static_cast<std::size_t>(tile.group);
}

}  // namespace

int network_lanes(Context& context) {
  if (context.info().kind != DeviceKind::kCpu) return 1;
  return with_device_errors("asking for the device's vectors", [&] {
    const auto device = context.queue().getInfo<CL_QUEUE_DEVICE>();
    const auto width = device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>();
    return width >= 16 ? 16 : width >= 8 ? 8 : 4;
  });
}

NetworkConv::NetworkConv(Context& context, const ConvolutionShape& shape,
                         const std::vector<float>& weights, const std::vector<float>& bias)
    : context_(&context),
      shape_(shape),
      weights_(context.allocate<float>(weight_count(shape), "the network's weights")),
      bias_(context.allocate<float>(block_count(shape.outputs) * kChannels,
                                    "the network's weights")) {
  weights_.upload(packed(shape, weights));
  std::vector<float> padded = bias;
  padded.resize(bias_.size(), 0.0f);
  bias_.upload(padded);
}

std::size_t NetworkConv::memory(const ConvolutionShape& shape) {
  return (weight_count(shape) + block_count(shape.outputs) * kChannels) * sizeof(float);
}

ConvolutionTile NetworkConv::choose_tile(const NetworkPlanes& planes) const {
  const int lanes = network_lanes(*context_);
  // 32 registers of 16 floats hold 2 x 8 sums and what is multiplied; 16 hold half of that.
  if (lanes > 1) return {lanes, lanes == 16 ? 2 : 1, 1};
  ConvolutionTile tile{1, 4, kGpuGroup};
  while (tile.vectors > 1 &&
         columns_of(tile, planes) * planes.rows() * block_count(shape_.outputs) < kEnoughItems) {
    tile.vectors /= 2;
  }
  return tile;
}

cl::Kernel& NetworkConv::kernel(const ConvolutionTile& tile) {
  for (auto& [made_for, kernel] : kernels_) {
    if (made_for == tile) return kernel;
  }
  kernels_.emplace_back(
      tile, context_->kernel(
                "network_conv.cl", "network_conv",
                fmt::format("-DKERNEL={} -DCHANNELS={} -DLANES={} -DVECTORS={} -DGROUP={}",
                            shape_.kernel, kChannels, tile.lanes, tile.vectors, tile.group)));
  return kernels_.back().second;
}

void NetworkConv::operator()(const NetworkPlanes& planes,
                             const std::vector<ConvolutionInput>& inputs,
                             const Buffer<float>* added, Buffer<float>& out) {
  run(choose_tile(planes), planes, inputs, added, out);
}

void NetworkConv::run(const ConvolutionTile& tile, const NetworkPlanes& planes,
                      const std::vector<ConvolutionInput>& inputs, const Buffer<float>* added,
                      Buffer<float>& out) {
  cl::Kernel& kernel = this->kernel(tile);
  // Unused arguments name what is there; their channels are none.
  std::array<const Buffer<float>*, kMaxInputs> tensors;
  std::array<int, kMaxInputs> channels{};
  tensors.fill(&inputs.front().tensor);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tensors.at(i) = &inputs[i].tensor;
    channels.at(i) = inputs[i].channels;
  }
  set_arguments(kernel, *tensors[0], *tensors[1], *tensors[2], *tensors[3], channels[0],
                channels[1], channels[2], channels[3], weights_, bias_,
                added != nullptr ? *added : inputs.front().tensor, out, shape_.outputs,
                planes.width, planes.height, planes.stride, planes.margin, planes.plane(),
                shape_.dilation, shape_.relu ? 1 : 0, added != nullptr ? 1 : 0);
  context_->launch(
      kernel, cl::NDRange(block_count(shape_.outputs), columns_of(tile, planes), planes.rows()),
      cl::NDRange(1, static_cast<std::size_t>(tile.group), 1));
}

}  // namespace diacut
