#pragma once

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "boundary/network/planes.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A convolution's numbers.
struct ConvolutionShape {
  int inputs = 0;   ///< Channels of all inputs together.
  int outputs = 0;  ///< Channels.
  int kernel = 1;   ///< Taps along each axis, 1 or 3.
  int dilation = 1;
  bool relu = false;
};

/// A tensor that a convolution reads.
struct ConvolutionInput {
  const Buffer<float>& tensor;
  int channels = 0;
};

/// How network_conv.cl divides the work: an item computes `vectors` vectors of `lanes` pixels of a
/// row for NetworkConv::kChannels output channels, `group` items a group.
struct RowTile {
  int lanes = 1;
  int vectors = 1;
  int group = 1;

  bool operator==(const RowTile&) const = default;
};

/// How network_conv_patch.cl does: an item computes 4 x `down` pixels of `channels` output
/// channels, a group of columns x rows x blocks x shares items 4 * columns x down * rows pixels of
/// channels * blocks; `shares` divide the input channels, of which `depth` at a time are in local
/// memory. Preconditions: `channels` a multiple of 4, channels * blocks one of
/// NetworkConv::kChannels, `shares` a power of two.
struct PatchTile {
  static constexpr int kMaxReach = 4;

  int channels = 8;
  int down = 1;
  int columns = 8;
  int rows = 8;
  int blocks = 1;
  int shares = 1;
  int depth = 4;

  int items() const { return columns * rows * blocks * shares; }
  /// Bytes of local memory that a group takes.
  std::size_t local_memory(const ConvolutionShape& shape) const;

  bool operator==(const PatchTile&) const = default;
};

/// For PatchTile taps reach at most PatchTile::kMaxReach pixels from the middle one.
using ConvolutionTile = std::variant<RowTile, PatchTile>;

/// The tile for a device, of which `lanes` is network_lanes(): a PatchTile only where it fits.
ConvolutionTile network_conv_tile(const DeviceInfo& device, int lanes,
                                  const ConvolutionShape& shape, const NetworkPlanes& planes);

/// kernels/boundary/network/conv.cl and network_conv_patch.cl with their weights on the device.
class NetworkConv {
 public:
  /// Output channels whose weights lie together.
  static constexpr int kChannels = 8;
  /// Tensors taken as one by their channels, at most.
  static constexpr std::size_t kMaxInputs = 4;

  /// weights: [output][input][tap, row by row]; bias: [output].
  NetworkConv(Context& context, const ConvolutionShape& shape, const std::vector<float>& weights,
              const std::vector<float>& bias);

  /// Bytes that the constructor allocates.
  static std::size_t memory(const ConvolutionShape& shape);

  /// Enqueues out = conv(inputs), plus `added` if not null, rectified if the shape says so. All
  /// tensors have these planes, whose margin is at least dilation * (kernel / 2); `out` is another
  /// buffer than the rest. Preconditions: 1 to kMaxInputs inputs, shape.inputs channels together.
  void operator()(const NetworkPlanes& planes, const std::vector<ConvolutionInput>& inputs,
                  const Buffer<float>* added, Buffer<float>& out);
  /// The same with a tile of the caller's choice.
  void run(const ConvolutionTile& tile, const NetworkPlanes& planes,
           const std::vector<ConvolutionInput>& inputs, const Buffer<float>* added,
           Buffer<float>& out);

 private:
  /// Made once.
  cl::Kernel& kernel(const ConvolutionTile& tile);

  Context* context_;
  ConvolutionShape shape_;
  int lanes_;
  Buffer<float> weights_;
  Buffer<float> bias_;
  std::vector<std::pair<ConvolutionTile, cl::Kernel>> kernels_;
};

/// Pixels that an item computes at once: the device's vectors on a CPU, one on others.
int network_lanes(Context& context);

}  // namespace diacut
