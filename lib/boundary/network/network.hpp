#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace diacut {

/// An intermediate result: `channels` planes at a level; level 0 has the image's size, and each
/// further one half of the size before, rounded up.
struct NetworkTensor {
  std::string name;
  int channels = 0;
  int level = 0;
};

enum class NetworkOpKind { kConvolution, kDepthwise, kMaxPool, kUpsample, kSigmoid };

/// One step; tensors are indices into Network::tensors.
struct NetworkOp {
  NetworkOpKind kind = NetworkOpKind::kConvolution;
  std::vector<int> inputs;  ///< Taken as one tensor, their channels in this order.
  int output = -1;
  // The rest is for convolutions.
  int added = -1;  ///< Added after the bias and before max(0, .); -1: none.
  int kernel = 1;  ///< Taps along each axis, 1 or 3, `dilation` apart.
  int dilation = 1;
  bool relu = false;
  std::vector<float> weights;  ///< [output channel][input channel (depthwise: 1)][row][column].
  std::vector<float> bias;     ///< [output channel].
};

/// A convolutional network that takes an sRGB picture, three channels 4 (v - 1/2) of values v in
/// [0, 1], and gives one channel in [0, 1]. Convolutions have stride 1 and zero padding that keeps
/// the size; maxpool takes 2x2 pixels, fewer at an odd edge; upsample doubles bilinearly with
/// half-pixel centres, the edge going on, and crops to the size of its target. The last op is the
/// one sigmoid.
struct Network {
  std::vector<NetworkTensor> tensors;  ///< The first is the input.
  std::vector<NetworkOp> ops;          ///< In the order of execution.

  int input() const { return 0; }
  int output() const { return ops.back().output; }
  /// The deepest level.
  int levels() const;
  /// How far a pixel of the output sees into the input, pixels to each side.
  int reach() const;
  /// The most that a convolution at a level reaches beyond a plane's edge, pixels of that level.
  int margin(int level) const;
  /// Multiplications and additions for an image of that size, counted as one each.
  double operations(int width, int height) const;
};

/// A side of the image at a level.
int network_side(int side, int level);

/// Most tensors that a convolution takes as one.
inline constexpr std::size_t kMaxNetworkInputs = 4;

/// Reads a network: safetensors (an 8-byte little-endian length, a JSON header, the data), fp16 or
/// fp32, whose metadata give "format": "diacut-network", "version": "1" and the "graph". Everything
/// is checked. `name` is what messages call it. Throws InputError.
Network parse_network(std::span<const std::byte> file, const std::string& name);

/// The network that is built in under this name, or the one in the file of this path; an empty text
/// is "default". Throws ConfigError when there is neither, InputError as parse_network().
std::shared_ptr<const Network> load_network(const std::string& name_or_path);

using Networks = std::vector<std::shared_ptr<const Network>>;

/// Several, separated by commas, each as load_network() takes it; an empty text is the default one.
/// Throws as load_network(), and ConfigError where there is nothing between two commas.
Networks load_networks(const std::string& names_or_paths);

/// Which buffer holds which tensor, so that one that is no longer read gives its place to another.
struct NetworkBuffers {
  std::vector<int> buffer_of;       ///< For each tensor; -1 for the output, which is no tensor.
  std::vector<std::size_t> floats;  ///< Each buffer's size.
};

/// `floats[t]` is tensor t's size. Greedy, in the order of execution: the smallest free buffer that
/// is large enough, else the largest free one, made larger. No op's output shares a buffer with
/// what it reads.
NetworkBuffers plan_network_buffers(const Network& network, const std::vector<std::size_t>& floats);

}  // namespace diacut
