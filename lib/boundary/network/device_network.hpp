#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "boundary/network/conv.hpp"
#include "boundary/network/depthwise.hpp"
#include "boundary/network/network.hpp"
#include "boundary/network/planes.hpp"
#include "opencl/context.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// A network's tensors at a level, for an image (or a tile of one) of this size.
NetworkPlanes planes_at(const Network& network, int level, int width, int height);

/// Which buffers a network's tensors take, for images (or tiles) up to a size.
NetworkBuffers tensor_buffers(const Network& network, int width, int height);

/// Buffers for the tensors of networks that run one after another, made anew only when other sizes
/// are asked for. Must be empty when their context dies.
class TensorBuffers {
 public:
  /// One for each size, floats. Throws DeviceError when they do not fit.
  std::vector<Buffer<float>>& get(Context& context, const std::vector<std::size_t>& floats);
  void clear() { buffers_.clear(); }

 private:
  std::vector<Buffer<float>> buffers_;
};

/// What TensorBuffers::get() allocates.
void budget_tensors(MemoryBudget& budget, const std::vector<std::size_t>& floats);

/// A network's tensors in buffers at least as large as tensor_buffers() says, which it refers to.
class NetworkTensors {
 public:
  NetworkTensors(std::vector<int> buffer_of, std::vector<Buffer<float>>& buffers)
      : buffer_of_(std::move(buffer_of)), buffers_(&buffers) {}

  Buffer<float>& operator[](int tensor) {
    return (*buffers_)[static_cast<std::size_t>(buffer_of_[static_cast<std::size_t>(tensor)])];
  }

 private:
  std::vector<int> buffer_of_;
  std::vector<Buffer<float>>* buffers_;
};

/// A network on a device: its weights and kernels. Must not outlive the context.
class DeviceNetwork {
 public:
  /// Throws DeviceError when the weights do not fit.
  DeviceNetwork(Context& context, std::shared_ptr<const Network> network);

  const Network& network() const { return *network_; }

  /// Bytes that the constructor allocates.
  static std::size_t memory(const Network& network);

  /// Enqueues all operations but the sigmoid, for an input of this size in the first of `tensors`,
  /// three channels in planes_at(network, 0, ...); `tensors` was made for this network and at least
  /// this size. Returns what the sigmoid is to be taken of: one channel, in the input's planes.
  const Buffer<float>& run(NetworkTensors& tensors, int width, int height);

 private:
  Context* context_;
  std::shared_ptr<const Network> network_;
  /// One an operation; empty for those without weights.
  std::vector<std::variant<std::monostate, NetworkConv, NetworkDepthwise>> convolutions_;
};

/// The networks of a cue on a device, put there when they are first asked for and kept from one
/// image to the next. Must be empty when its context dies.
class DeviceNetworks {
 public:
  /// Those that load_networks() gives for this text. Throws as that, and DeviceError when they do
  /// not fit. Asked for others, or for another context, it lets go of those it has.
  std::vector<DeviceNetwork>& get(Context& context, const std::string& names_or_paths);
  /// For their tensors; let go of with them, or alone to make room for what comes after them.
  TensorBuffers& tensors() { return tensors_; }
  void clear() {
    networks_.clear();
    tensors_.clear();
  }

 private:
  const Context* context_ = nullptr;
  std::string names_or_paths_;
  std::vector<DeviceNetwork> networks_;
  TensorBuffers tensors_;
};

}  // namespace diacut
