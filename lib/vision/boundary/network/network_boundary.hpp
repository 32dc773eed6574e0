#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "boundary/network/device_network.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/tiles.hpp"
#include "core/embedding.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"
#include "opencl/devices.hpp"

namespace diacut {

/// The length of a side of `side` pixels after resizing by `scale`, at least 1.
int scaled_side(int side, double scale);

/// The device memory that network_boundary_maps() allocates for so many images, its results
/// included. The weights of the networks are not part of it (DeviceNetwork::memory()).
DeviceMemory network_map_memory(const Grid& grid, int images, const Networks& networks,
                                const BoundaryParameters& parameters);

/// What networks make of an image, each map of grid.rows() values in [0, 1].
struct NetworkMaps {
  Buffer<float> boundary;
  Buffer<float> inside;  ///< How likely each pixel lies in an object; of two outputs, else empty.
  DeviceEmbedding embedding;  ///< Where it was asked for, and the image has data.
};

/// An image of which maps are wanted.
struct ImageToMap {
  const Image& image;
  const Buffer<std::uint8_t>& valid;  ///< Of the grid: 1 where there is data, 0 elsewhere.
  std::size_t valid_pixels = 0;       ///< How many elements of `valid` are 1.
};

/// The boundary maps, and of networks of two outputs the inside maps, of images of one size: each
/// the mean over all networks, all parameters.scales and all parameters.turns of the form that
/// parameters.pose says. For each the images are resized, turned, mirrored beyond its edges by
/// parameters.border pixels, and given to the network; the result loses its border and is turned
/// and resized back. Pixels without data get 0; networks are given the colour of the nearest pixel
/// with data in their place. Large images are computed in tiles of about parameters.tile pixels
/// together with their receptive fields, which bounds the memory and does not change the result.
/// Half of the images go through a network together: their tensors take no more memory than the
/// matrices of all of them. An image gets the same bits alone. The tensors stay in `kept` for the
/// next images. Of a part of a picture these are the maps that the whole picture has there, to the
/// bit: `image` then has the pixels that network_needs() names. Preconditions: at least one
/// network, all of the same outputs; grid.width and grid.height are the image's; of a part
/// parameters.turns is 1, and parameters.pose is NetworkPose::kGiven, since a part does not tell
/// the picture's canonical form. `embeds`: whether the embedding is wanted too, of the picture as
/// it is, at the scale nearest to 1, by the first network that has one; of whole pictures alone.
/// `tell`: gets the share of the tiles that are computed, after each of several, which is then
/// waited for; may be empty, and may throw. Throws DeviceError.
std::vector<NetworkMaps> network_boundary_maps(
    Context& context, std::vector<DeviceNetwork>& networks, TensorBuffers& kept,
    std::span<const ImageToMap> images, const Grid& grid, const BoundaryParameters& parameters,
    const PictureView& view, bool embeds, const std::function<void(double share)>& tell = {});

/// Whether a map by these networks may come with an embedding: one of them has it, and the picture
/// is seen as it is.
bool gives_embedding(const Networks& networks, const BoundaryParameters& parameters);

/// The pixels along a side of `side` pixels that networks have to be given for the pixels `wanted`.
/// `gaps`: whether pixels without data are to be filled in from afar.
Stretch network_needs(const Networks& networks, const BoundaryParameters& parameters, int side,
                      const Stretch& wanted, bool gaps);

}  // namespace diacut
