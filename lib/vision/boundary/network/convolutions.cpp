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

std::size_t weight_count(const ConvolutionShape& shape) {
  return bias_count(shape) * static_cast<std::size_t>(shape.inner() * shape.taps());
}

std::vector<float> packed(const ConvolutionShape& shape, const std::vector<float>& weights) {
  std::vector<float> result(weight_count(shape), 0.0f);
  const auto each = static_cast<std::size_t>(shape.inner() * shape.taps());
  const auto block = static_cast<std::size_t>(shape.block());
  for (std::size_t output = 0; output < static_cast<std::size_t>(shape.outputs); ++output) {
    for (std::size_t k = 0; k < each; ++k) {
      result[(output / block * each + k) * block + output % block] = weights[output * each + k];
    }
  }
  return result;
}

constexpr int kGpuGroup = 32;
/// The fewest work-items that keep a large GPU busy. With fewer, each work-item gets less work.
constexpr std::size_t kEnoughItems = 65'536;

/// Pixels of a level from which on a large GPU is busy with patches whose work-items do not divide
/// the input channels.
constexpr std::size_t kManyPixels = 8'192;

/// Input channels of a convolution of one tap from which on it is worth dividing them.
constexpr int kManyInputs = 64;

std::size_t pieces(std::size_t count, int size) {
  return round_up(count, static_cast<std::size_t>(size)) / static_cast<std::size_t>(size);
}

std::size_t columns_of(const RowTile& tile, const NetworkPlanes& planes) {
  return pieces(static_cast<std::size_t>(planes.stride), tile.lanes * tile.vectors * tile.group) *
         static_cast<std::size_t>(tile.group);
}

NetworkRange range_of(const RowTile& tile, const ConvolutionShape& shape,
                      const NetworkPlanes& planes) {
  return {cl::NDRange(pieces(static_cast<std::size_t>(shape.outputs), tile.channels),
                      columns_of(tile, planes), planes.all_rows()),
          cl::NDRange(1, tile.group, 1)};
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

NetworkRange range_of(const LineTile& tile, const ConvolutionShape& shape,
                      const NetworkPlanes& planes) {
  return planes_range(planes, shape.blocks(), tile.lanes, tile.down());
}

int reach_of(const ConvolutionShape& shape) { return shape.dilation * (shape.kernel / 2); }

KernelFile made(Context& context, const RowTile& tile, const ConvolutionShape& shape) {
  return {context, "boundary/network/conv.cl",
          fmt::format("-DKERNEL={} -DCHANNELS={} -DLANES={} -DVECTORS={} -DGROUP={}", shape.kernel,
                      tile.channels, tile.lanes, tile.vectors, tile.group)};
}

KernelFile made(Context& context, const PatchTile& tile, const ConvolutionShape& shape) {
  return {context, "boundary/network/conv_patch.cl",
          fmt::format("-DKERNEL={} -DDILATION={} -DCHANNELS={} -DDOWN={} -DCOLUMNS={} -DROWS={} "
                      "-DBLOCKS={} -DSHARES={} -DDEPTH={}",
                      shape.kernel, reach_of(shape) > 0 ? shape.dilation : 1, tile.channels,
                      tile.down, tile.columns, tile.rows, tile.blocks, tile.shares, tile.depth)};
}

KernelFile made(Context& context, const LineTile& tile, const ConvolutionShape& shape) {
  return {context, "boundary/network/conv_rows.cl",
          fmt::format("-DKERNEL={} -DSTRIDE={} -DDILATION={} -DOUTPUTS={} -DLANES={} -DDOWN={}",
                      shape.kernel, shape.stride, shape.dilation, shape.block(), tile.lanes,
                      tile.down())};
}

/// By the place of their tiles in ConvolutionTile.
constexpr std::array kKernelNames = {"network_conv", "network_conv_patch", "network_conv_rows"};

/// Whether one tile serves tensors of every size on every device.
bool by_lines(const ConvolutionShape& shape) { return shape.stride > 1 || shape.depthwise; }

RowTile row_tile(int lanes, const ConvolutionShape& shape, const NetworkPlanes& planes) {
  // 32 registers of 16 floats hold 2 x 8 vectors of sums and the factors; 16 registers hold 3 x 4.
  if (lanes == 16) return {lanes, 2, 1};
  if (lanes > 1) return {.lanes = lanes, .vectors = 3, .group = 1, .channels = 4};
  RowTile tile{1, 4, kGpuGroup};
  while (tile.vectors > 1 &&
         columns_of(tile, planes) * planes.rows() * static_cast<std::size_t>(shape.blocks()) <
             kEnoughItems) {
    tile.vectors /= 2;
  }
  return tile;
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

ConvolutionTile network_conv_tile(const DeviceInfo& device, int lanes,
                                  const ConvolutionShape& shape, const NetworkPlanes& planes) {
  if (by_lines(shape)) return LineTile{lanes};
  if (device.kind == DeviceKind::kGpu && device.dedicated_local_memory &&
      reach_of(shape) <= PatchTile::kMaxReach) {
    const PatchTile tile = patch_tile(shape, planes);
    if (tile.local_memory(shape) <= device.local_memory &&
        static_cast<std::size_t>(tile.items()) <= device.max_work_group) {
      return tile;
    }
  }
  return row_tile(lanes, shape, planes);
}

NetworkConv::NetworkConv(Context& context, const NetworkOp& op)
    : context_(&context),
      shape_(op.shape),
      lanes_(network_lanes(context)),
      weights_(context.allocate<float>(weight_count(shape_), kWeights)),
      bias_(context.allocate<float>(bias_count(shape_), kWeights)) {
  weights_.upload_later(packed(shape_, op.weights));
  std::vector<float> padded = op.bias;
  padded.resize(bias_.size(), 0.0f);
  bias_.upload_later(padded);
  for (const int side : {1, 1'000}) {
    kernel(network_conv_tile(context.info(), lanes_, shape_, network_planes(side, side, 0)));
  }
}

std::size_t NetworkConv::memory(const ConvolutionShape& shape) {
  return (weight_count(shape) + bias_count(shape)) * sizeof(float);
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
  run(network_conv_tile(context_->info(), lanes_, shape_, largest), from, in, to, added, out);
}

void NetworkConv::run(const ConvolutionTile& tile, const NetworkPlanes& from,
                      const Buffer<float>& in, const NetworkPlanes& to, const Buffer<float>* added,
                      Buffer<float>& out) {
  const NetworkRange range =
      std::visit([&](const auto& kind) { return range_of(kind, shape_, to); }, tile);
  kernel(tile).launch(kKernelNames[tile.index()], range.global, range.local, in, shape_.inner(),
                      weights_, bias_, added != nullptr ? *added : in, out, shape_.outputs,
                      from.height, from.stride, from.margin, from.plane(), to.width, to.height,
                      to.stride, to.margin, to.plane(), shape_.before(), shape_.dilation,
                      shape_.relu ? 1 : 0, shape_.most, added != nullptr ? 1 : 0);
}

}  // namespace diacut
