#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "cues/network.hpp"
#include "opencl/context.hpp"
#include "opencl/launchers/network_conv.hpp"
#include "opencl/launchers/network_depthwise.hpp"
#include "opencl/launchers/network_planes.hpp"
#include "opencl/memory_plan.hpp"

namespace diacut {

/// A network's tensors at a level, for an image (or a tile of one) of this size.
NetworkPlanes planes_at(const Network& network, int level, int width, int height);

/// A network on a device: its weights, and buffers for images up to a size. Must outlive neither
/// the context nor the network.
class DeviceNetwork {
 public:
  /// Throws DeviceError when it does not fit.
  DeviceNetwork(Context& context, const Network& network, int width, int height);

  /// What the constructor allocates.
  static void plan(MemoryPlan& plan, const Network& network, int width, int height);

  /// For the network's input, three channels in planes_at(network, 0, ...).
  Buffer<float>& input() { return tensor(network_->input()); }
  /// Enqueues all operations but the sigmoid, for an input of this size, which is at most the
  /// constructor's. Returns what the sigmoid is to be taken of: one channel, in the input's planes.
  const Buffer<float>& run(int width, int height);

 private:
  Buffer<float>& tensor(int index);

  Context* context_;
  const Network* network_;
  std::vector<int> buffer_of_;
  std::vector<Buffer<float>> buffers_;
  /// One an operation; empty for those without weights.
  std::vector<std::variant<std::monostate, NetworkConv, NetworkDepthwise>> convolutions_;
};

}  // namespace diacut
