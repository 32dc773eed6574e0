#include "boundary/network/device_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
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

/// From which operation to which a buffer is taken, both included.
struct Life {
  std::size_t from = 0;
  std::size_t to = 0;

  bool overlaps(const Life& other) const { return from <= other.to && other.from <= to; }
};

}  // namespace

NetworkBuffers plan_network_buffers(const Network& network,
                                    const std::vector<std::size_t>& floats) {
  const std::vector<std::size_t> last_use = last_uses(network);
  // Tensors that share a buffer by the first of them: what is added for the last time gives its
  // place to the sum.
  std::vector<int> owner_of(floats.size());
  std::iota(owner_of.begin(), owner_of.end(), 0);
  std::vector<Life> lives(floats.size());
  lives[network.input()].to = last_use[network.input()];
  std::vector<int> owners = {network.input()};
  for (std::size_t i = 0; i < network.ops.size(); ++i) {
    const NetworkOp& op = network.ops[i];
    if (op.kind == NetworkOpKind::kSigmoid) continue;
    if (op.added >= 0 && op.added != op.input && last_use[op.added] == i) {
      owner_of[op.output] = owner_of[op.added];
    } else {
      lives[op.output].from = i;
      owners.push_back(op.output);
    }
    lives[owner_of[op.output]].to = last_use[op.output];
  }
  // The largest first: each in the first buffer that is free as long as it lives.
  std::stable_sort(owners.begin(), owners.end(),
                   [&](int a, int b) { return floats[a] > floats[b]; });
  NetworkBuffers plan;
  plan.buffer_of.assign(floats.size(), -1);
  std::vector<std::vector<Life>> taken;
  for (const int owner : owners) {
    const auto is_free = [&](const std::vector<Life>& by) {
      return std::none_of(by.begin(), by.end(),
                          [&](const Life& life) { return life.overlaps(lives[owner]); });
    };
    const auto found = std::find_if(taken.begin(), taken.end(), is_free);
    plan.buffer_of[owner] = static_cast<int>(found - taken.begin());
    if (found == taken.end()) {
      taken.emplace_back();
      plan.floats.push_back(floats[owner]);
    }
    taken[plan.buffer_of[owner]].push_back(lives[owner]);
  }
  for (std::size_t t = 0; t < floats.size(); ++t) plan.buffer_of[t] = plan.buffer_of[owner_of[t]];
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
