#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "boundary/network/device_network.hpp"
#include "boundary/network/tiles.hpp"
#include "core/embedding.hpp"
#include "diacut/boundary_map.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A boundary map on the device: for each pixel how likely a boundary between regions runs there.
struct DeviceBoundary {
  Grid grid;
  Buffer<float> values;        ///< grid.rows() values in [0, 1]; 0 where there is no data.
  Buffer<std::uint8_t> valid;  ///< grid.rows() elements: 1 where there is data, 0 elsewhere.
  /// How likely each pixel lies inside of an object, as `values`; empty where nothing gives it.
  Buffer<float> inside;
  /// Without cells where it was not asked for, or nothing gives it.
  DeviceEmbedding embedding = {};
};

/// An image whose boundary map is wanted.
struct BoundaryInput {
  const Image& image;
  /// Null, or the user's boundary map, which is used instead. It counts as 0 where the image has no
  /// data.
  const BoundaryMap* given = nullptr;
};

/// Checks that the networks that the parameters name can be loaded. Throws ConfigError and
/// InputError as load_networks() does.
void check_boundary(const BoundaryParameters& parameters);

/// Whether boundary maps have an inside map: those of networks of two outputs. Throws as
/// check_boundary() does.
bool gives_inside(const BoundaryParameters& parameters);

/// Whether boundary maps come with an embedding. Throws as check_boundary() does.
bool gives_embedding(const BoundaryParameters& parameters);

/// The boundary maps of images of one size, made as `parameters` say: by networks or from the
/// gradient. The pixels of the images are uploaded here; all later stages read from the device.
/// `embeds`: whether the embeddings are wanted, where gives_embedding(). `tell`: as
/// network_boundary_maps() takes it. `networks` keeps the weights and the tensors of the networks
/// for the next images. Preconditions: grid.width and grid.height are the images'; all images have
/// a map of the user's, or none. Throws InputError where such a map has another size or a value
/// outside [0, 1], ConfigError and InputError as check_boundary() does, and DeviceError.
std::vector<DeviceBoundary> boundary_maps(Context& context, std::span<const BoundaryInput> images,
                                          const Grid& grid, const BoundaryParameters& parameters,
                                          DeviceNetworks& networks, bool embeds = false,
                                          const std::function<void(double share)>& tell = {});
/// As boundary_maps(), of one image; without `networks` they are uploaded for it alone.
DeviceBoundary boundary_map(Context& context, const Image& image, const Grid& grid,
                            const BoundaryParameters& parameters, DeviceNetworks& networks,
                            bool embeds = false);
DeviceBoundary boundary_map(Context& context, const Image& image, const Grid& grid,
                            const BoundaryParameters& parameters);

/// The map of a part of a picture before it is made one of boundaries: what boundary_map() of the
/// picture has there, to the bit, where a network makes it; where the gradient does, its magnitude,
/// which part_boundary_map() divides. Pixels without data have the value 0.
struct PartMap {
  Grid grid;  ///< Of the part.
  std::vector<float> values;
  std::vector<std::uint8_t> valid;  ///< Of each pixel, whether it has data.
};

/// The map at the pixels of `grid`, which lie at (view.x, view.y) in the picture, before it is
/// computed: all values are 0. `image` has the pixels that boundary_needs() names, from
/// (view.image_x, view.image_y) on.
PartMap empty_part_map(const Image& image, const Grid& grid, const PictureView& view);

/// Computes the values of empty_part_map() of the same image and view. Throws as boundary_map()
/// does. Precondition: parameters.turns is 1 where networks make the map.
void fill_part_map(Context& context, const Image& image, const BoundaryParameters& parameters,
                   DeviceNetworks& networks, const PictureView& view, PartMap& part);

/// The pixels along a side of `side` pixels that a PartMap needs for the pixels `wanted`. `gaps`:
/// whether some pixels may have no data.
Stretch boundary_needs(const BoundaryParameters& parameters, int side, const Stretch& wanted,
                       bool gaps);

/// The boundary map of a part of a picture from its PartMap. `full`: the magnitude of the gradient
/// that becomes strength 1; not used where networks make the map.
Buffer<float> part_boundary_map(Context& context, const PartMap& part,
                                const BoundaryParameters& parameters, float full);

/// A map without any boundary, and which pixels of the image have data. Throws DeviceError.
DeviceBoundary empty_boundary_map(Context& context, const Image& image, const Grid& grid);

/// The boundary maps of the images of a batch as one map on batch.grid(), in which elements between
/// images have no data, without inside maps.
DeviceBoundary batched(Context& context, const std::vector<DeviceBoundary>& maps,
                       const Batch& batch);

/// Makes pixels walls, which have no data and through which no affinity reaches
/// (kernels/affinity/affinity.cl): their strength becomes kWall. `walls`: for each pixel
/// of the image whether it is one. Waits.
void add_walls(DeviceBoundary& map, const std::vector<std::uint8_t>& walls);

/// The strength of a wall: more than any boundary has.
inline constexpr float kWall = 2;

}  // namespace diacut
