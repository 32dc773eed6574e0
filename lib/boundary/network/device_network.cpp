#include "boundary/network/device_network.hpp"

#include <algorithm>
#include <utility>

#include "boundary/network/resize.hpp"

namespace diacut {

namespace {

constexpr char kTensors[] = "the network's tensors";

}  // namespace

static_assert(kMaxNetworkInputs == NetworkConv::kMaxInputs);

NetworkPlanes planes_at(const Network& network, int level, int width, int height) {
  return network_planes(network_side(width, level), network_side(height, level),
                        network.margin(level));
}

NetworkBuffers tensor_buffers(const Network& network, const std::vector<NetworkSize>& sizes) {
  std::vector<std::size_t> floats;
  for (const NetworkTensor& tensor : network.tensors) {
    std::size_t most = 0;
    for (const NetworkSize& size : sizes) {
      const NetworkPlanes planes = planes_at(network, tensor.level, size.width, size.height);
      most = std::max(most, planes.elements(tensor.channels));
    }
    floats.push_back(most);
  }
  return plan_network_buffers(network, floats);
}

std::vector<Buffer<float>>& TensorBuffers::get(Context& context,
                                               const std::vector<std::size_t>& floats) {
  const auto is_size = [](const Buffer<float>& buffer, std::size_t size) {
    return buffer.size() == size;
  };
  if (std::equal(buffers_.begin(), buffers_.end(), floats.begin(), floats.end(), is_size)) {
    return buffers_;
  }
  buffers_.clear();
  for (const std::size_t each : floats) {
    buffers_.push_back(context.allocate<float>(each, kTensors));
  }
  return buffers_;
}

DeviceNetwork::DeviceNetwork(Context& context, std::shared_ptr<const Network> network)
    : context_(&context), network_(std::move(network)) {
  for (const NetworkOp& op : network_->ops) {
    switch (op.kind) {
      case NetworkOpKind::kConvolution:
        if (op.shape.stride == 1) {
          convolutions_.emplace_back(NetworkConv(context, op.shape, op.weights, op.bias));
        } else {
          convolutions_.emplace_back(NetworkConvStrided(context, op.shape, op.weights, op.bias));
        }
        break;
      case NetworkOpKind::kDepthwise:
        convolutions_.emplace_back(NetworkDepthwise(context, op.shape, op.weights, op.bias));
        break;
      default:
        convolutions_.emplace_back();
        break;
    }
  }
}

std::size_t DeviceNetwork::memory(const Network& network) {
  std::size_t bytes = 0;
  for (const NetworkOp& op : network.ops) {
    if (op.kind == NetworkOpKind::kConvolution) bytes += ConvolutionWeights::memory(op.shape);
    if (op.kind == NetworkOpKind::kDepthwise) bytes += NetworkDepthwise::memory(op.shape);
  }
  return bytes;
}

const Buffer<float>& DeviceNetwork::run(NetworkTensors& tensors, const NetworkSize& size,
                                        const NetworkSize& largest) {
  const auto described = [&](int index) -> const NetworkTensor& {
    return network_->tensors[static_cast<std::size_t>(index)];
  };
  const auto planes = [&](int index) {
    return planes_at(*network_, described(index).level, size.width, size.height);
  };
  for (std::size_t i = 0; i < network_->ops.size(); ++i) {
    const NetworkOp& op = network_->ops[i];
    const int in = op.inputs.front();
    if (op.kind == NetworkOpKind::kSigmoid) return tensors[in];
    Buffer<float>& out = tensors[op.output];
    const Buffer<float>* added = op.added < 0 ? nullptr : &tensors[op.added];
    switch (op.kind) {
      case NetworkOpKind::kConvolution: {
        if (auto* strided = std::get_if<NetworkConvStrided>(&convolutions_[i])) {
          (*strided)(planes(in), tensors[in], planes(op.output), added, out);
          break;
        }
        std::vector<ConvolutionInput> inputs;
        for (const int input : op.inputs) {
          inputs.push_back({tensors[input], described(input).channels});
        }
        std::get<NetworkConv>(convolutions_[i])(
            planes(in), planes_at(*network_, described(in).level, largest.width, largest.height),
            inputs, added, out);
        break;
      }
      case NetworkOpKind::kDepthwise:
        std::get<NetworkDepthwise>(convolutions_[i])(planes(in), tensors[in], planes(op.output),
                                                     added, out);
        break;
      case NetworkOpKind::kMaxPool:
        launch_network_pool(*context_, planes(in), tensors[in], planes(op.output), out,
                            described(in).channels);
        break;
      default:
        launch_network_upsample(*context_, planes(in), tensors[in], planes(op.output), out,
                                described(in).channels);
        break;
    }
  }
  throw NumericalError("a network without a sigmoid");  // parse_network() allows none.
}

std::vector<DeviceNetwork>& DeviceNetworks::get(Context& context,
                                                const std::string& names_or_paths) {
  if (!networks_.empty() && context_ == &context && names_or_paths_ == names_or_paths) {
    return networks_;
  }
  clear();
  std::vector<DeviceNetwork> loaded;
  for (const std::shared_ptr<const Network>& network : load_networks(names_or_paths)) {
    loaded.emplace_back(context, network);
  }
  networks_ = std::move(loaded);
  context_ = &context;
  names_or_paths_ = names_or_paths;
  return networks_;
}

}  // namespace diacut
