#include "boundary/network/network_boundary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "boundary/network/blend.hpp"
#include "boundary/network/input.hpp"
#include "boundary/network/output.hpp"
#include "boundary/network/resize.hpp"
#include "boundary/network/tiles.hpp"
#include "boundary/network/turn.hpp"
#include "image/gaps.hpp"

namespace diacut {

namespace {

constexpr char kBoundary[] = "boundary map";
constexpr char kPicture[] = "the picture";
constexpr char kInside[] = "inside map";
constexpr char kResult[] = "the network's result";

std::size_t pixels_of(const NetworkSize& size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

NetworkSize scaled(const Grid& grid, double scale) {
  return {scaled_side(grid.width, scale), scaled_side(grid.height, scale)};
}

NetworkSize turned(const NetworkSize& size, const Turn& turn) {
  return turn.transposed ? NetworkSize{size.height, size.width} : size;
}

std::vector<NetworkTile> tiles_of(const Network& network, int side, int tile) {
  return network_tiles(side, tile, network.reach(), network.levels());
}

/// The most pixels that any tile reads along a side.
int longest(const std::vector<NetworkTile>& tiles) {
  int most = 0;
  for (const NetworkTile& tile : tiles) most = std::max(most, tile.end - tile.begin);
  return most;
}

/// The size of the image that a network is given at a scale, border included.
NetworkSize input_size(const Grid& grid, double scale, int border) {
  const NetworkSize size = scaled(grid, scale);
  return {size.width + 2 * border, size.height + 2 * border};
}

/// The largest width and the largest height that any tile reads at any scale, of the picture turned
/// so.
NetworkSize largest_tile(const Network& network, const Grid& grid, const CueParameters& parameters,
                         const Turn& turn) {
  NetworkSize most;
  for (const double scale : parameters.scales) {
    const NetworkSize size = turned(input_size(grid, scale, parameters.border), turn);
    most.width = std::max(most.width, longest(tiles_of(network, size.width, parameters.tile)));
    most.height = std::max(most.height, longest(tiles_of(network, size.height, parameters.tile)));
  }
  return most;
}

/// The buffers of the tensors of all networks. The networks run one after another in one set of
/// buffers.
struct TensorBudget {
  std::vector<std::vector<int>> buffer_of;  ///< [network][tensor]: the index of the buffer.
  std::vector<std::size_t> floats;  ///< The size of each buffer: the most that any network needs.

  void add(const Network& network, const Grid& grid, const CueParameters& parameters) {
    std::vector<NetworkSize> tiles;
    for (const Turn& turn : network_turns(parameters.turns)) {
      tiles.push_back(largest_tile(network, grid, parameters, turn));
    }
    NetworkBuffers buffers = tensor_buffers(network, tiles);
    floats.resize(std::max(floats.size(), buffers.floats.size()), 0);
    for (std::size_t i = 0; i < buffers.floats.size(); ++i) {
      floats[i] = std::max(floats[i], buffers.floats[i]);
    }
    buffer_of.push_back(std::move(buffers.buffer_of));
  }
};

/// The most pixels that a network is given at any scale.
std::size_t most_pixels(const Grid& grid, const CueParameters& parameters) {
  std::size_t most = 0;
  for (const double scale : parameters.scales) {
    most = std::max(most, pixels_of(input_size(grid, scale, parameters.border)));
  }
  return most;
}

/// Enqueues a network for a whole picture, tile by tile, into a map of the picture with its border
/// for each output.
void run_tiles(Context& context, DeviceNetwork& network, NetworkTensors& tensors,
               const NetworkPicture& picture, int tile, const std::vector<NetworkMap>& maps) {
  const NetworkMap& map = maps.front();
  const std::vector<NetworkTile> columns = tiles_of(network.network(), map.width, tile);
  for (const NetworkTile& row : tiles_of(network.network(), map.height, tile)) {
    for (const NetworkTile& column : columns) {
      const int width = column.end - column.begin;
      const int height = row.end - row.begin;
      const NetworkPlanes planes = planes_at(network.network(), 0, width, height);
      launch_network_input(context, picture, column.begin, row.begin, planes,
                           tensors[network.network().input()]);
      const Buffer<float>& result = network.run(tensors, width, height);
      const NetworkCopy core = {column.core_begin - column.begin,
                                row.core_begin - row.begin,
                                column.core_begin,
                                row.core_begin,
                                column.core_end - column.core_begin,
                                row.core_end - row.core_begin};
      for (std::size_t k = 0; k < maps.size(); ++k) {
        launch_network_output(context, planes, result, static_cast<int>(k), core, maps[k]);
      }
    }
  }
}

/// One form of a picture that a network sees.
struct SeenPicture {
  const Buffer<float>& pixels;
  const Image& image;
  const Grid& grid;
  double scale = 1;
  Turn turn;
};

/// Enqueues a network for a picture resized and turned. The result refers to `results`, which has a
/// buffer for each output.
std::vector<NetworkMap> run_network(Context& context, DeviceNetwork& network,
                                    NetworkTensors& tensors, const SeenPicture& seen,
                                    const CueParameters& parameters,
                                    std::vector<Buffer<float>>& results) {
  const int border = parameters.border;
  const NetworkSize inner = scaled(seen.grid, seen.scale);
  const NetworkSize size = turned(input_size(seen.grid, seen.scale, border), seen.turn);
  std::vector<NetworkMap> maps;
  for (Buffer<float>& result : results) maps.push_back({result, size.width, size.height, border});
  run_tiles(context, network, tensors,
            {seen.pixels, seen.image.channels, seen.image.width, seen.image.height, inner.width,
             inner.height, border, seen.turn},
            parameters.tile, maps);
  return maps;
}

}  // namespace

int scaled_side(int side, double scale) {
  return std::max(1, static_cast<int>(std::lround(side * scale)));
}

void budget_network_boundary_map(MemoryBudget& budget, const Grid& grid, const Networks& networks,
                                 const CueParameters& parameters) {
  budget.add(kBoundary, grid.rows() * sizeof(float));
  budget.add(kPicture, 3 * grid.pixels() * sizeof(float));
  const auto outputs = static_cast<std::size_t>(networks.front()->outputs());
  if (outputs > 1) budget.add(kInside, grid.rows() * sizeof(float));
  budget.add(kResult, outputs * most_pixels(grid, parameters) * sizeof(float));
  TensorBudget tensors;
  for (const std::shared_ptr<const Network>& network : networks) {
    tensors.add(*network, grid, parameters);
  }
  budget_tensors(budget, tensors.floats);
}

NetworkMaps network_boundary_map(Context& context, std::vector<DeviceNetwork>& networks,
                                 TensorBuffers& kept, const Image& image, const Grid& grid,
                                 const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                 const CueParameters& parameters) {
  NetworkMaps maps;
  std::vector<Buffer<float>*> sums = {&maps.boundary};
  maps.boundary = context.allocate<float>(grid.rows(), kBoundary);
  if (networks.front().network().outputs() > 1) {
    maps.inside = context.allocate<float>(grid.rows(), kInside);
    sums.push_back(&maps.inside);
  }
  if (valid_pixels == 0) {
    for (Buffer<float>* sum : sums) sum->fill(0);
    return maps;
  }
  // Memory for three channels for a grey picture too: the budget does not know the channels.
  auto pixels = context.allocate<float>(3 * grid.pixels(), kPicture);
  if (valid_pixels < grid.pixels()) {
    pixels.upload(filled_from_nearest(image));
  } else {
    pixels.upload(image.pixels);
  }
  std::vector<Buffer<float>> results;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    results.push_back(context.allocate<float>(most_pixels(grid, parameters), kResult));
  }
  // Asked for early, so that they are built together with the networks' own.
  const std::array asked_for = {network_input_kernel(context), network_output_kernel(context),
                                network_blend_kernel(context), network_resize_kernel(context)};
  const std::vector<Turn> turns = network_turns(parameters.turns);
  const float share =
      1.0f / static_cast<float>(parameters.scales.size() * networks.size() * turns.size());
  TensorBudget budget;
  for (const DeviceNetwork& network : networks) budget.add(network.network(), grid, parameters);
  std::vector<Buffer<float>>& buffers = kept.get(context, budget.floats);
  bool first = true;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    NetworkTensors tensors(budget.buffer_of[i], buffers);
    for (const double scale : parameters.scales) {
      for (const Turn& turn : turns) {
        const std::vector<NetworkMap> seen = run_network(
            context, networks[i], tensors, {pixels, image, grid, scale, turn}, parameters, results);
        for (std::size_t k = 0; k < seen.size(); ++k) {
          launch_network_blend(context, seen[k], turn, grid, valid, share, first, *sums[k]);
        }
        first = false;
      }
    }
  }
  return maps;
}

}  // namespace diacut
