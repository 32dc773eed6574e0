#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// The device memory that network_boundary_map() allocates, its result included. The weights of the
/// networks are not part of it (DeviceNetwork::memory()).
DeviceMemory network_map_memory(const Grid& grid, const Networks& networks,
                                const BoundaryParameters& parameters);

/// What networks make of an image, each map of grid.rows() values in [0, 1].
struct NetworkMaps {
  Buffer<float> boundary;
  Buffer<float> inside;  ///< How likely each pixel lies in an object; of two outputs, else empty.
};

/// The boundary map, and of networks of two outputs the inside map, of an image: the mean over all
/// networks, all parameters.scales and all parameters.turns of the form that parameters.pose
/// says. For each the image is resized, turned, mirrored beyond its edges by parameters.border
/// pixels, and given to the network; the result loses its border and is turned and resized back.
/// Pixels without data get 0; networks are given the colour of the nearest pixel with data in their
/// place. Large images are computed in tiles of about parameters.tile pixels together with their
/// receptive fields, which bounds the memory and does not change the result. `valid` has
/// grid.rows() elements, `valid_pixels` of them 1. The tensors stay in `kept` for the next image.
/// Of a part of a picture these are the maps that the whole picture has there, to the bit: `image`
/// then has the pixels that network_needs() names. Preconditions: at least one network, all of the
/// same outputs; grid.width and grid.height are the image's; of a part parameters.turns is 1, and
/// parameters.pose is NetworkPose::kGiven, since a part does not tell the picture's canonical form.
/// `embedding`: null, or gets the embedding of the picture as it is, at the scale nearest to 1, by
/// the first network that has one; of a whole picture alone. `tell`: gets the share of the tiles
/// that are computed, after each of several, which is then waited for; may be empty, and may throw.
/// Throws DeviceError.
NetworkMaps network_boundary_map(Context& context, std::vector<DeviceNetwork>& networks,
                                 TensorBuffers& kept, const Image& image, const Grid& grid,
                                 const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                 const BoundaryParameters& parameters, const PictureView& view,
                                 Embedding* embedding = nullptr,
                                 const std::function<void(double share)>& tell = {});

/// Whether a map by these networks may come with an embedding: one of them has it, and the picture
/// is seen as it is.
bool gives_embedding(const Networks& networks, const BoundaryParameters& parameters);

/// The pixels along a side of `side` pixels that networks have to be given for the pixels `wanted`.
/// `gaps`: whether pixels without data are to be filled in from afar.
Stretch network_needs(const Networks& networks, const BoundaryParameters& parameters, int side,
                      const Stretch& wanted, bool gaps);

}  // namespace diacut
