#include "boundary/network/device_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "boundary/network/picture_kernels.hpp"
#include "core/unit_range.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// For each tensor, the index of the last operation that reads or writes it.
std::vector<std::size_t> last_uses(const Network& network) {
  std::vector<std::size_t> last_use(network.tensors.size(), 0);
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    const NetworkOp& op = network.ops[i];
    last_use[op.output] = i;
    last_use[op.input] = i;
    if (op.added >= 0) last_use[op.added] = i;
  }
  // It is read when all operations have run.
  if (network.embedding >= 0) {
    last_use[network.embedding] = network.ops.size() - 1;
  }
  return last_use;
}

/// For each operation, whether the output depends on it.
std::vector<char> feeding_output(const Network& network) {
  std::vector<char> wanted(network.tensors.size(), 0);
  std::vector<char> feeds(network.ops.size(), 0);
  wanted[network.output()] = 1;
  for (std::size_t i = network.ops.size(); i-- > 0;) {
    const NetworkOp& op = network.ops[i];
    feeds[i] = wanted[op.output];
    if (feeds[i] == 0) continue;
    wanted[op.input] = 1;
    if (op.added >= 0) wanted[op.added] = 1;
  }
  return feeds;
}

/// The buffer that a tensor of this size takes: the smallest that is large enough, else the
/// largest; the first of equal ones.
std::vector<int>::iterator best_free(std::vector<int>& free,
                                     const std::vector<std::size_t>& capacities, std::size_t size) {
  return std::min_element(free.begin(), free.end(), [&](int a, int b) {
    const std::size_t of_a = capacities[a];
    const std::size_t of_b = capacities[b];
    if ((of_a >= size) != (of_b >= size)) return of_a >= size;
    return of_a >= size ? of_a < of_b : of_a > of_b;
  });
}

}  // namespace

NetworkBuffers plan_network_buffers(const Network& network,
                                    const std::vector<std::size_t>& floats) {
  const std::vector<std::size_t> last_use = last_uses(network);
  NetworkBuffers plan;
  plan.buffer_of.assign(network.tensors.size(), -1);
  std::vector<int> free;
  const auto place = [&](int tensor) {
    const std::size_t size = floats[tensor];
    int buffer = static_cast<int>(plan.floats.size());
    if (const auto best = best_free(free, plan.floats, size); best != free.end()) {
      buffer = *best;
      free.erase(best);
    } else {
      plan.floats.push_back(0);
    }
    std::size_t& capacity = plan.floats[buffer];
    capacity = std::max(capacity, size);
    plan.buffer_of[tensor] = buffer;
  };
  place(network.input());
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    const NetworkOp& op = network.ops[i];
    if (op.kind != NetworkOpKind::kSigmoid) place(op.output);
    for (std::size_t t = 0; t < network.tensors.size(); ++t) {
      if (plan.buffer_of[t] >= 0 && last_use[t] == i) free.push_back(plan.buffer_of[t]);
    }
  }
  return plan;
}

NetworkPlanes planes_at(const Network& network, int level, const Grid& size, int images) {
  return network_planes(network_side(size.width, level), network_side(size.height, level),
                        network.margin(level), images);
}

NetworkBuffers tensor_buffers(const Network& network, const std::vector<Grid>& sizes, int images) {
  std::vector<std::size_t> floats;
  for (const NetworkTensor& tensor : network.tensors) {
    std::size_t most = 0;
    for (const Grid& size : sizes) {
      const NetworkPlanes planes = planes_at(network, tensor.level, size, images);
      most = std::max(most, planes.elements(tensor.channels));
    }
    floats.push_back(most);
  }
  return plan_network_buffers(network, floats);
}

std::vector<Buffer<float>>& TensorBuffers::get(Context& context,
                                               const std::vector<std::size_t>& floats) {
  const auto holds = [](const Buffer<float>& buffer, std::size_t size) {
    return buffer.size() >= size;
  };
  if (std::equal(buffers_.begin(), buffers_.end(), floats.begin(), floats.end(), holds)) {
    return buffers_;
  }
  buffers_.clear();
  for (const std::size_t each : floats) {
    buffers_.push_back(context.allocate<float>(each, "the network's tensors"));
  }
  return buffers_;
}

Embedding DeviceEmbedding::download() const {
  Embedding embedding = layout;
  if (!cells) return embedding;
  embedding.values = cells.download();
  const auto is_number = [](std::int16_t value) {
    return value != std::numeric_limits<std::int16_t>::min();
  };
  if (first_that_fails(std::span<const std::int16_t>(embedding.values), is_number)) {
    throw DeviceError(fmt::format(
        "stage boundaries: {} computed an embedding with a value that is no finite number: the "
        "device or its driver fails; run again, or on another device (--list-devices)",
        cells.context().info().name));
  }
  return embedding;
}

DeviceNetwork::DeviceNetwork(Context& context, std::shared_ptr<const Network> network)
    : context_(&context), network_(std::move(network)), feeds_output_(feeding_output(*network_)) {
  for (const NetworkOp& op : network_->ops) {
    std::optional<NetworkConv>& own = convolutions_.emplace_back();
    if (op.kind == NetworkOpKind::kConvolution) own.emplace(context, op);
  }
  ask_for_picture_kernels(context);
}

std::size_t DeviceNetwork::memory(const Network& network) {
  std::size_t bytes = 0;
  for (const NetworkOp& op : network.ops) {
    if (op.kind == NetworkOpKind::kConvolution) bytes += NetworkConv::memory(op.shape);
  }
  return bytes;
}

const Buffer<float>& DeviceNetwork::run(const NetworkTensors& tensors, const Grid& size,
                                        const Grid& largest, int images, bool embedding) {
  const auto described = [&](int index) -> const NetworkTensor& {
    return network_->tensors[index];
  };
  const auto planes = [&](int index, const Grid& of) {
    return planes_at(*network_, described(index).level, of, images);
  };
  const auto buffer = [&](int index) { return tensors[index]; };
  for (std::size_t i = 0; i < network_->ops.size(); ++i) {
    if (!embedding && feeds_output_[i] == 0) continue;
    const NetworkOp& op = network_->ops[i];
    const int in = op.input;
    if (op.kind == NetworkOpKind::kSigmoid) return *buffer(in);
    Buffer<float>& out = *buffer(op.output);
    if (convolutions_[i]) {
      (*convolutions_[i])(planes(in, size), *buffer(in), planes(op.output, size),
                          planes(op.output, largest), op.added < 0 ? nullptr : buffer(op.added),
                          out);
    } else {
      launch_network_upsample(*context_, planes(in, size), *buffer(in), planes(op.output, size),
                              out, described(in).channels);
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
  for (const auto& network : load_networks(names_or_paths)) loaded.emplace_back(context, network);
  networks_ = std::move(loaded);
  context_ = &context;
  names_or_paths_ = names_or_paths;
  return networks_;
}

}  // namespace diacut
