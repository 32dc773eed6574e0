#include "boundary/network/convolutions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace diacut {

namespace {

constexpr char kWeights[] = "the network's weights";

std::size_t bias_count(const ConvolutionShape& shape) {
  return static_cast<std::size_t>(shape.blocks() * shape.block());
}

/// Weights of conv_strip.cl for 3x3 taps are transformed: six for each column of three.
constexpr int kProducts = 6;

/// Weights of an input channel for an output channel.
int each_weight(const ConvolutionShape& shape, bool strips) {
  return strips && shape.kernel == 3 ? kProducts * shape.kernel : shape.taps();
}

std::size_t weight_count(const ConvolutionShape& shape, bool strips) {
  return bias_count(shape) * static_cast<std::size_t>(shape.inner() * each_weight(shape, strips));
}

/// Winograd's transform of a column of three weights, for polynomials at the points 0, 3/4, -3/4,
/// 3/2, -3/2 and infinity (conv_strip.cl).
std::array<double, kProducts> transformed(double upper, double middle, double lower) {
  constexpr double kPoints[] = {0.75, 1.5};
  std::array<double, kProducts> found{};
  found.front() = upper;
  found.back() = lower;
  for (int k = 0; k < 2; ++k) {
    const double square = kPoints[k] * kPoints[k];
    const double other = kPoints[1 - k] * kPoints[1 - k];
    found.front() /= square;
    const double even = (upper + square * lower) / (2 * square * (square - other));
    const double odd = kPoints[k] * middle / (2 * square * (square - other));
    found[static_cast<std::size_t>(2 * k + 1)] = even + odd;
    found[static_cast<std::size_t>(2 * k + 2)] = even - odd;
  }
  return found;
}

/// [output][product][input][column], from [output][input][row][column].
std::vector<float> transformed(const ConvolutionShape& shape, const std::vector<float>& weights) {
  const auto inputs = static_cast<std::size_t>(shape.inputs);
  std::vector<float> result(weights.size() / 3 * kProducts);
  for (std::size_t pair = 0; pair < weights.size() / 9; ++pair) {
    for (std::size_t x = 0; x < 3; ++x) {
      const float* column = weights.data() + 9 * pair + x;
      const auto made = transformed(column[0], column[3], column[6]);
      for (std::size_t k = 0; k < kProducts; ++k) {
        const std::size_t of = (pair / inputs * kProducts + k) * inputs + pair % inputs;
        result[3 * of + x] = static_cast<float>(made[k]);
      }
    }
  }
  return result;
}

/// The weights as kernels read them, whose blocks of outputs lie side by side.
std::vector<float> packed(const ConvolutionShape& shape, const std::vector<float>& weights,
                          bool strips) {
  std::vector<float> result(weight_count(shape, strips), 0.0f);
  const std::vector<float> own =
      strips && shape.kernel == 3 ? transformed(shape, weights) : weights;
  const auto each = static_cast<std::size_t>(shape.inner() * each_weight(shape, strips));
  const auto block = static_cast<std::size_t>(shape.block());
  for (std::size_t output = 0; output < static_cast<std::size_t>(shape.outputs); ++output) {
    for (std::size_t k = 0; k < each; ++k) {
      result[(output / block * each + k) * block + output % block] = own[output * each + k];
    }
  }
  return result;
}

/// Pixels of a level from which on a large GPU is busy with patches whose work-items do not divide
/// the input channels.
constexpr std::size_t kManyPixels = 8'192;

/// Input channels of a convolution of one tap from which on it is worth dividing them.
constexpr int kManyInputs = 64;

std::size_t pieces(std::size_t count, int size) {
  return round_up(count, static_cast<std::size_t>(size)) / static_cast<std::size_t>(size);
}

NetworkRange range_of(const PatchTile& tile, const ConvolutionShape& shape,
                      const NetworkPlanes& planes) {
  const auto group = static_cast<std::size_t>(tile.items());
  const auto outputs = static_cast<std::size_t>(shape.outputs);
  return {cl::NDRange(group * pieces(outputs, tile.channels * tile.blocks),
                      pieces(static_cast<std::size_t>(planes.stride), 4 * tile.columns),
                      pieces(static_cast<std::size_t>(planes.height), tile.down * tile.rows) *
                          static_cast<std::size_t>(planes.images)),
          cl::NDRange(group, 1, 1)};
}

/// How many vectors a strip has, alike in all strips of a row.
int strip_vectors(const StripTile& tile, const NetworkPlanes& planes) {
  const std::size_t in_row = pieces(planes.stride, tile.lanes);
  const std::size_t each = pieces(in_row, static_cast<int>(pieces(in_row, tile.most)));
  return static_cast<int>(pieces(each, tile.vectors)) * tile.vectors;
}

NetworkRange range_of(const StripTile& tile, const ConvolutionShape& shape,
                      const NetworkPlanes& planes) {
  const int rows = shape.kernel == 3 ? StripTile::kWinogradRows : 1;
  return {cl::NDRange(pieces(planes.stride, tile.lanes * strip_vectors(tile, planes)),
                      pieces(planes.height, rows) * static_cast<std::size_t>(planes.images)),
          cl::NDRange(1, 1, 1)};
}

NetworkRange range_of(const LineTile& tile, const ConvolutionShape& shape,
                      const NetworkPlanes& planes) {
  return planes_range(planes, shape.blocks(), tile.lanes, tile.down());
}

int reach_of(const ConvolutionShape& shape) { return shape.dilation * (shape.kernel / 2); }

KernelFile made(Context& context, const PatchTile& tile, const ConvolutionShape& shape) {
  return {context, "boundary/network/conv_patch.cl",
          fmt::format("-DKERNEL={} -DDILATION={} -DCHANNELS={} -DDOWN={} -DCOLUMNS={} -DROWS={} "
                      "-DBLOCKS={} -DSHARES={} -DDEPTH={}",
                      shape.kernel, reach_of(shape) > 0 ? shape.dilation : 1, tile.channels,
                      tile.down, tile.columns, tile.rows, tile.blocks, tile.shares, tile.depth)};
}

KernelFile made(Context& context, const StripTile& tile, const ConvolutionShape& shape) {
  return {context, "boundary/network/conv_strip.cl",
          fmt::format("-DKERNEL={} -DCHANNELS={} -DLANES={} -DVECTORS={}", shape.kernel,
                      tile.channels, tile.lanes, tile.vectors)};
}

KernelFile made(Context& context, const LineTile& tile, const ConvolutionShape& shape) {
  return {context, "boundary/network/conv_rows.cl",
          fmt::format("-DKERNEL={} -DSTRIDE={} -DDILATION={} -DOUTPUTS={} -DLANES={} -DDOWN={}",
                      shape.kernel, shape.stride, shape.dilation, shape.block(), tile.lanes,
                      tile.down())};
}

/// By the place of their tiles in ConvolutionTile.
constexpr std::array kKernelNames = {"network_conv_patch", "network_conv_strip",
                                     "network_conv_rows"};

/// Whether one tile serves tensors of every size on every device.
bool by_lines(const ConvolutionShape& shape) { return shape.stride > 1 || shape.depthwise; }

/// The tile for CPUs, one for every size.
ConvolutionTile cpu_tile(const DeviceInfo& device, int lanes, const ConvolutionShape& shape) {
  // 32 registers of 16 floats hold 3 x 8 or 2 x 8 vectors of sums and the factors; 16 registers
  // hold 3 x 4. Long strips are read and written faster.
  StripTile strip =
      lanes == 16 ? StripTile{lanes, shape.kernel == 1 ? 3 : 2, 8, 24} : StripTile{lanes, 3, 4, 24};
  const auto fits = [&] { return strip.local_memory(shape) <= device.local_memory; };
  while (!fits() && strip.most > strip.vectors) strip.most -= strip.vectors;
  return StripTile::computes(shape) && fits() ? ConvolutionTile(strip) : LineTile{lanes};
}

/// The patch for GPUs with local memory.
PatchTile patch_tile(const ConvolutionShape& shape, const NetworkPlanes& planes) {
  // Measured on an H200. Comments give microseconds for an image, alone and with 15 others.
  if (shape.kernel == 1) {
    // 672 to 112 channels of 34 x 24 pixels: 23 and 11; not divided 72 and 19.
    if (shape.inputs >= kManyInputs) {
      return {.channels = 4, .columns = 4, .rows = 4, .blocks = 2, .shares = 4, .depth = 4};
    }
    // 24 to 24 channels of 529 x 369 pixels: 30 and 26.
    return {.channels = 4, .columns = 8, .rows = 4, .blocks = 2, .depth = 4};
  }
  // 64 to 64 channels of 67 x 47 pixels: 25 and 11; not divided 39 and 9.
  if (static_cast<std::size_t>(planes.width) * planes.height < kManyPixels) {
    return {
        .channels = 4, .down = 2, .columns = 8, .rows = 2, .blocks = 4, .shares = 4, .depth = 16};
  }
  // 32 to 32 channels of 265 x 185 pixels: 37 and 25; with the last tile 41 and 26.
  if (shape.outputs % 16 == 0) {
    return {.channels = 4, .down = 2, .columns = 8, .rows = 4, .blocks = 4, .depth = 4};
  }
  // 24 to 24 channels of 529 x 369 pixels: 66 and 55; with the tile before 79 and 67.
  return {.channels = 4, .down = 4, .columns = 8, .rows = 4, .blocks = 2, .depth = 4};
}

}  // namespace

std::size_t PatchTile::local_memory(const ConvolutionShape& shape) const {
  const int reach = reach_of(shape);
  const int vectors = columns + (2 * reach + 3) / 4;
  const int seen = 4 * vectors * (down * rows + 2 * reach);
  const int copied = reach > 0 ? depth * static_cast<int>(round_up(seen, items())) : 0;
  const int passed = shares / 2 * columns * rows * blocks * 4 * down * channels;
  return static_cast<std::size_t>(std::max(copied, passed)) * sizeof(float);
}

bool StripTile::computes(const ConvolutionShape& shape) {
  return !by_lines(shape) && (shape.kernel == 1 || (shape.kernel == 3 && shape.dilation == 1));
}

std::size_t StripTile::local_memory(const ConvolutionShape& shape) const {
  const int seen = shape.kernel == 3 ? kProducts * (most + 1) : most;
  return static_cast<std::size_t>(seen * shape.inputs) * lanes * sizeof(float);
}

ConvolutionTile network_conv_tile(const DeviceInfo& device, int lanes,
                                  const ConvolutionShape& shape, const NetworkPlanes& planes) {
  if (by_lines(shape)) return LineTile{lanes};
  if (lanes > 1) return cpu_tile(device, lanes, shape);
  if (device.kind == DeviceKind::kGpu && device.dedicated_local_memory &&
      reach_of(shape) <= PatchTile::kMaxReach) {
    const PatchTile tile = patch_tile(shape, planes);
    if (tile.local_memory(shape) <= device.local_memory &&
        static_cast<std::size_t>(tile.items()) <= device.max_work_group) {
      return tile;
    }
  }
  return LineTile{lanes};
}

NetworkConv::NetworkConv(Context& context, const NetworkOp& op, std::optional<ConvolutionTile> tile)
    : context_(&context), shape_(op.shape), lanes_(network_lanes(context)), tile_(std::move(tile)) {
  if (!tile_ && (lanes_ > 1 || by_lines(shape_))) {
    tile_ = network_conv_tile(context.info(), lanes_, shape_, {});
  }
  const bool strips = tile_ && std::holds_alternative<StripTile>(*tile_);
  weights_ = context.allocate<float>(weight_count(shape_, strips), kWeights);
  weights_.upload_later(packed(shape_, op.weights, strips));
  bias_ = context.allocate<float>(bias_count(shape_), kWeights);
  std::vector<float> padded = op.bias;
  padded.resize(bias_.size(), 0.0f);
  bias_.upload_later(padded);
  if (tile_) {
    kernel(*tile_);
    return;
  }
  for (const int side : {1, 1'000}) {
    kernel(network_conv_tile(context.info(), lanes_, shape_, network_planes(side, side, 0)));
  }
}

std::size_t NetworkConv::memory(const ConvolutionShape& shape) {
  return (weight_count(shape, StripTile::computes(shape)) + bias_count(shape)) * sizeof(float);
}

const KernelFile& NetworkConv::kernel(const ConvolutionTile& tile) {
  for (auto& [made_for, kernel] : kernels_) {
    if (made_for == tile) return kernel;
  }
  kernels_.emplace_back(
      tile, std::visit([&](const auto& kind) { return made(*context_, kind, shape_); }, tile));
  return kernels_.back().second;
}

void NetworkConv::operator()(const NetworkPlanes& from, const Buffer<float>& in,
                             const NetworkPlanes& to, const NetworkPlanes& largest,
                             const Buffer<float>* added, Buffer<float>& out) {
  const ConvolutionTile tile =
      tile_ ? *tile_ : network_conv_tile(context_->info(), lanes_, shape_, largest);
  const NetworkRange range =
      std::visit([&](const auto& kind) { return range_of(kind, shape_, to); }, tile);
  const auto launch = [&](const auto&... more) {
    kernel(tile).launch(kKernelNames[tile.index()], range.global, range.local, in, shape_.inner(),
                        weights_, bias_, added != nullptr ? *added : in, out, shape_.outputs,
                        from.height, from.stride, from.margin, from.plane(), to.width, to.height,
                        to.stride, to.margin, to.plane(), shape_.before(), shape_.dilation,
                        shape_.relu ? 1 : 0, shape_.most, added != nullptr ? 1 : 0, more...);
  };
  if (const auto* strip = std::get_if<StripTile>(&tile)) {
    launch(strip_vectors(*strip, to), cl::Local(strip->local_memory(shape_)));
  } else {
    launch();
  }
}

}  // namespace diacut
