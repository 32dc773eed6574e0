#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boundary/network/convolutions.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/network.hpp"
#include "core/embedding.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Which buffer holds which tensor of a network. Tensors that are not needed at the same time share
/// a buffer.
struct NetworkBuffers {
  std::vector<int> buffer_of;       ///< For each tensor; -1 for the output, which has no buffer.
  std::vector<std::size_t> floats;  ///< The size of each buffer.
};

/// Assigns buffers to the tensors of a network; floats[t] is the size of tensor t. Greedy, from the
/// largest tensor on: each takes the first buffer that is free while it is needed. The output of an
/// operation shares no buffer with a tensor that the operation reads, except with the one that it
/// adds, if no later operation reads that.
NetworkBuffers plan_network_buffers(const Network& network, const std::vector<std::size_t>& floats);

/// The layout of the tensors of a network at a level, for so many images, or tiles of images, of
/// this size.
NetworkPlanes planes_at(const Network& network, int level, const Grid& size, int images);

/// The buffers that the tensors of a network take for so many images, or tiles of images, of up to
/// each of these sizes.
NetworkBuffers tensor_buffers(const Network& network, const std::vector<Grid>& sizes, int images);

/// Device buffers for the tensors of networks that run one after another. They are allocated anew
/// only when larger ones are asked for, or another number of them. Must be empty when their context
/// is destroyed.
class TensorBuffers {
 public:
  /// One buffer for each entry of `floats`, of at least that many elements. Throws DeviceError when
  /// the device has too little memory.
  std::vector<Buffer<float>>& get(Context& context, const std::vector<std::size_t>& floats);
  void clear() { buffers_.clear(); }

 private:
  std::vector<Buffer<float>> buffers_;
};

/// The tensors of a network by their indices; null for the output. Their buffers are at least as
/// large as tensor_buffers() says.
using NetworkTensors = std::vector<Buffer<float>*>;

/// The embedding of a picture on the device.
struct DeviceEmbedding {
  Embedding layout;            ///< All of it but the values.
  Buffer<std::int16_t> cells;  ///< Embedding::values; the least of its type is no number.

  /// Waits. Without cells there is none. Throws DeviceError where a value is no number.
  Embedding download() const;
};

/// A network on a device: its weights and kernels. The context must outlive it.
class DeviceNetwork {
 public:
  /// Throws DeviceError when the device has too little memory for the weights.
  DeviceNetwork(Context& context, std::shared_ptr<const Network> network);

  const Network& network() const { return *network_; }
  const std::shared_ptr<const Network>& shared() const { return network_; }

  /// The most bytes that the constructor allocates on any device.
  static std::size_t memory(const Network& network);

  /// Enqueues all operations but the sigmoid for `images` inputs of `size`, which are in the first
  /// of `tensors`: three channels in planes_at(network, 0, size, images). Without `embedding` those
  /// are skipped that the output does not depend on; with it, the network's embedding is in
  /// `tensors` afterwards. `tensors` was made for this network, for at least this size and at least
  /// so many images. Returns the argument of the sigmoid: network().outputs()
  /// channels, laid out as the input. Sums have the order in which they are computed fastest for an
  /// input of the size `largest`: for parts of a picture, that of the largest of them.
  const Buffer<float>& run(const NetworkTensors& tensors, const Grid& size, const Grid& largest,
                           int images, bool embedding = false);

 private:
  Context* context_;
  std::shared_ptr<const Network> network_;
  std::vector<char> feeds_output_;  ///< For each operation, whether the output depends on it.
  std::vector<std::optional<NetworkConv>> convolutions_;  ///< For each operation, if it is one.
};

/// The networks that make boundary maps, on a device. They are uploaded when they are first asked
/// for and kept from one image to the next. Must be empty when their context is destroyed.
class DeviceNetworks {
 public:
  /// The networks that load_networks() returns for `names_or_paths`. A call with another text or
  /// another context first frees the networks of the last one. Throws as load_networks() does, and
  /// DeviceError when the device has too little memory.
  std::vector<DeviceNetwork>& get(Context& context, const std::string& names_or_paths);
  /// The buffers for the tensors of these networks. They may be cleared alone, to make room for the
  /// later stages.
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
