#pragma once

#include <vector>

#include "boundary/network/device_network.hpp"
#include "boundary/network/network.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// A stretch of a side that a network computes at once, pixels: from `begin` to `end`, of which it
/// gives what lies from `core_begin` to `core_end`. The rest is what the network sees of it.
struct NetworkTile {
  int begin = 0;
  int end = 0;
  int core_begin = 0;
  int core_end = 0;
};

/// Divides a side into as few tiles as have cores of about `tile` pixels, alike in size. Begins and
/// ends inside of the side are multiples of 2^levels, so that every tile pools the pixels that the
/// whole would; `reach` is Network::reach().
std::vector<NetworkTile> network_tiles(int side, int tile, int reach, int levels);

/// A side of the image in one of parameters.scales, at least 1.
int scaled_side(int side, double scale);

/// What learned_strength() allocates on the device, what it returns included, the networks' weights
/// not.
void budget_learned(MemoryBudget& budget, const Grid& grid, const Networks& networks,
                    const CueParameters& parameters);

/// Boundary strength by networks: the mean of what each gives for the image resized by each of
/// parameters.scales and mirrored beyond its edges by parameters.border, without that and resized
/// back. Where there is no data it is 0, and a network sees the nearest pixel with data. Large
/// images go through in tiles of about parameters.tile pixels, with what the network sees beyond
/// them, so memory is bounded and the result is the same. `valid`: grid.rows() elements,
/// `valid_pixels` of them 1. Tensors stay in `kept`
/// for the next image. Returns grid.rows() elements. Precondition: at least one network.
Buffer<float> learned_strength(Context& context, std::vector<DeviceNetwork>& networks,
                               TensorBuffers& kept, const Image& image, const Grid& grid,
                               const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                               const CueParameters& parameters);

}  // namespace diacut
