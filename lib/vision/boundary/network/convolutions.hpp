#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "boundary/network/network.hpp"

namespace diacut {

/// How conv_patch.cl divides the work: a work-item computes 4 x `down` pixels of `channels` output
/// channels; a work-group of columns x rows x blocks x shares work-items computes 4 * columns x
/// down * rows pixels of channels * blocks output channels. The input channels are divided among
/// `shares` work-items; `depth` of them are in local memory at a time. Preconditions: `channels` is
/// a multiple of 4, channels * blocks a multiple of ConvolutionShape::kBlock, `shares` a power of
/// two.
struct PatchTile {
  /// Taps must lie at most this many pixels from the middle one.
  static constexpr int kMaxReach = 4;

  int channels = 8;
  int down = 1;
  int columns = 8;
  int rows = 8;
  int blocks = 1;
  int shares = 1;
  int depth = 4;

  int items() const { return columns * rows * blocks * shares; }
  /// Bytes of local memory that a work-group takes.
  std::size_t local_memory(const ConvolutionShape& shape) const;

  bool operator==(const PatchTile&) const = default;
};

/// How conv_strip.cl divides the work: a work-item computes a strip of one row, or for 3x3 taps of
/// kWinogradRows rows, for all output channels. It has the sums of `vectors` vectors of `lanes`
/// pixels and `channels` output channels in registers at a time. Precondition: `channels` is 4 or
/// ConvolutionShape::kBlock.
struct StripTile {
  /// Rows of 3x3 taps that one transform serves, counted from the first row of an image on.
  static constexpr int kWinogradRows = 4;

  int lanes = 4;
  int vectors = 1;
  int channels = 8;
  int most = 1;  ///< Vectors of the longest strip; a multiple of `vectors`.

  /// Whether the kernel computes the convolution: of one tap, or of 3x3 adjacent ones.
  static bool computes(const ConvolutionShape& shape);
  /// Bytes of local memory that a work-item takes.
  std::size_t local_memory(const ConvolutionShape& shape) const;

  bool operator==(const StripTile&) const = default;
};

/// How conv_rows.cl divides the work: a work-item computes vectors of `lanes` pixels of down() rows
/// for the output channels of a block.
struct LineTile {
  int lanes = 1;

  int down() const { return lanes > 1 ? 1 : 4; }

  bool operator==(const LineTile&) const = default;
};

using ConvolutionTile = std::variant<PatchTile, StripTile, LineTile>;

/// The tile for a convolution on a device, by measurement: a PatchTile or a StripTile where one
/// computes it and the device has local memory enough for it, else a LineTile. `lanes` is
/// network_lanes() of the device.
ConvolutionTile network_conv_tile(const DeviceInfo& device, int lanes,
                                  const ConvolutionShape& shape, const NetworkPlanes& planes);

/// kernels/boundary/network/conv_patch.cl, conv_strip.cl and conv_rows.cl: a convolution with its
/// weights on the device.
class NetworkConv {
 public:
  /// Precondition: `op` is a convolution; with a stride its dilation is 1. Without `tile`, that of
  /// network_conv_tile() is taken.
  NetworkConv(Context& context, const NetworkOp& op, std::optional<ConvolutionTile> tile = {});

  /// The most bytes that the constructor allocates on any device.
  static std::size_t memory(const ConvolutionShape& shape);

  /// Enqueues out = conv(in), plus `added` if not null, then min(most, max(0, .)) if shape.relu.
  /// `in` has the layout `from`, whose margin is at least before() and after() of the shape;
  /// `added` and `out` have the layout `to`, whose sides are those of `from` divided by
  /// shape.stride and rounded up, and which is `from` where shape.stride is 1. `out` may be
  /// `added`, but not `in`. The tile is that for tensors of the layout `largest`, because tiles
  /// differ in the order of their sums: a part of an image has the bits of the whole where both
  /// give the same one, if it begins at a multiple of StripTile::kWinogradRows.
  void operator()(const NetworkPlanes& from, const Buffer<float>& in, const NetworkPlanes& to,
                  const NetworkPlanes& largest, const Buffer<float>* added, Buffer<float>& out);

 private:
  /// The kernel for a tile, compiled when it is first asked for.
  const KernelFile& kernel(const ConvolutionTile& tile);

  Context* context_;
  ConvolutionShape shape_;
  int lanes_;
  std::optional<ConvolutionTile> tile_;  ///< The one that serves every size, if there is one.
  Buffer<float> weights_;                ///< As the kernel says, zeros beyond the last output.
  Buffer<float> bias_;  ///< [block][output in block], zeros beyond the last output.
  std::vector<std::pair<ConvolutionTile, KernelFile>> kernels_;
};

}  // namespace diacut
