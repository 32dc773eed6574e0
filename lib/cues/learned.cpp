#include "cues/learned.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cues/device_network.hpp"
#include "image/planes.hpp"
#include "opencl/launchers/network_image.hpp"

namespace diacut {

namespace {

struct Size {
  int width = 0;
  int height = 0;

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

Size scaled(const Grid& grid, double scale) {
  return {scaled_side(grid.width, scale), scaled_side(grid.height, scale)};
}

Size bordered(const Size& size, int border) {
  return {size.width + 2 * border, size.height + 2 * border};
}

std::vector<NetworkTile> tiles_of(const Network& network, int side, int tile) {
  return network_tiles(side, tile, network.reach(), network.levels());
}

/// The largest extent of any tile.
int longest(const std::vector<NetworkTile>& tiles) {
  int most = 0;
  for (const NetworkTile& tile : tiles) most = std::max(most, tile.end - tile.begin);
  return most;
}

Size tile_size(const Network& network, const Size& size, int tile) {
  return {longest(tiles_of(network, size.width, tile)),
          longest(tiles_of(network, size.height, tile))};
}

/// What one scale allocates.
MemoryPlan plan_scale(const Grid& grid, const Network& network, double scale,
                      const CueParameters& parameters) {
  const Size size = bordered(scaled(grid, scale), parameters.border);
  MemoryPlan plan;
  plan.add("the network's image", 3 * size.pixels() * sizeof(float));
  plan.add("the network's result", size.pixels() * sizeof(float));
  const Size largest = tile_size(network, size, parameters.tile);
  DeviceNetwork::plan(plan, network, largest.width, largest.height);
  return plan;
}

/// Enqueues the network for a whole image, tile by tile, into a map of the image's size.
void run_tiles(Context& context, const Network& network, const NetworkImage& image, int tile,
               const NetworkMap& map) {
  const std::vector<NetworkTile> columns = tiles_of(network, image.width, tile);
  const std::vector<NetworkTile> rows = tiles_of(network, image.height, tile);
  DeviceNetwork device(context, network, longest(columns), longest(rows));
  for (const NetworkTile& row : rows) {
    for (const NetworkTile& column : columns) {
      const int width = column.end - column.begin;
      const int height = row.end - row.begin;
      const NetworkPlanes planes = planes_at(network, 0, width, height);
      launch_network_input(context, image, column.begin, row.begin, planes, device.input());
      const Buffer<float>& result = device.run(width, height);
      launch_network_output(
          context, planes, result,
          {column.core_begin - column.begin, row.core_begin - row.begin, column.core_begin,
           row.core_begin, column.core_end - column.core_begin, row.core_end - row.core_begin},
          map);
    }
  }
}

}  // namespace

int scaled_side(int side, double scale) {
  return std::max(1, static_cast<int>(std::lround(side * scale)));
}

std::vector<NetworkTile> network_tiles(int side, int tile, int reach, int levels) {
  const int step = 1 << levels;
  const auto up = [step](int at) { return (at + step - 1) / step * step; };
  const int count = (side + tile - 1) / tile;
  const int core = up((side + count - 1) / count);
  std::vector<NetworkTile> tiles;
  for (int at = 0; at < side; at += core) {
    const int end = std::min(at + core, side);
    tiles.push_back({std::max(0, at - up(reach)), std::min(side, end + up(reach)), at, end});
  }
  return tiles;
}

void plan_learned(MemoryPlan& plan, const Grid& grid, const Networks& networks,
                  const CueParameters& parameters) {
  plan.add("boundary strength", grid.rows() * sizeof(float));
  // One scale and network after another: what must fit is the largest.
  MemoryPlan largest;
  for (const double scale : parameters.scales) {
    for (const std::shared_ptr<const Network>& network : networks) {
      MemoryPlan one = plan_scale(grid, *network, scale, parameters);
      if (one.total() > largest.total()) largest = std::move(one);
    }
  }
  for (const MemoryPlan::Item& item : largest.items()) plan.add(item.what, item.bytes);
}

Buffer<float> learned_strength(Context& context, const Networks& networks, const Image& image,
                               const Grid& grid, const Buffer<std::uint8_t>& valid,
                               std::size_t valid_pixels, const CueParameters& parameters) {
  auto strength = context.allocate<float>(grid.rows(), "boundary strength");
  strength.fill(0);
  if (valid_pixels == 0) return strength;
  const CueLayout layout{grid.width, grid.height, grid.stride};
  const float share = 1.0f / static_cast<float>(parameters.scales.size() * networks.size());
  bool first = true;
  for (const double scale : parameters.scales) {
    const Size inner = scaled(grid, scale);
    const Size size = bordered(inner, parameters.border);
    auto planes = context.allocate<float>(3 * size.pixels(), "the network's image");
    planes.upload(srgb_planes(image, inner.width, inner.height, parameters.border));
    auto map = context.allocate<float>(size.pixels(), "the network's result");
    const NetworkMap result{map, size.width, size.height, parameters.border};
    for (const std::shared_ptr<const Network>& network : networks) {
      run_tiles(context, *network, {planes, size.width, size.height}, parameters.tile, result);
      launch_network_blend(context, result, layout, valid, share, first, strength);
      first = false;
    }
  }
  return strength;
}

}  // namespace diacut
