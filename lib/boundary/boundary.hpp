#pragma once

#include <vector>

#include "boundary/network/device_network.hpp"
#include "diacut/edges.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "matrix/batch.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"
#include "opencl/memory_budget.hpp"

namespace diacut {

/// Boundary strength on the device, one value an element of the grid, in [0, 1]; 0 where there is
/// no data.
struct BoundaryMap {
  Grid grid;
  Buffer<float> strength;      ///< grid.rows() elements.
  Buffer<std::uint8_t> valid;  ///< grid.rows() elements: 1 where there is data, 0 elsewhere.
};

/// Throws ConfigError or InputError when the network that the parameters name cannot be had.
void check_cue(const CueParameters& parameters);

/// What a cue keeps on the device from one image to the next: the networks.
void budget_kept(MemoryBudget& budget, const CueParameters& parameters);

/// What boundary_strength() allocates for an image on such a grid, what it returns included and
/// what it keeps not.
void budget_cue(MemoryBudget& budget, const Grid& grid, const CueParameters& parameters);

/// The cue that `parameters` names. The image's pixels go to the device here; from here on data
/// stays there. Precondition: grid.width and grid.height are the image's. `edges`, if not null,
/// takes the cue's place: its strengths, 0 where there is no data. Throws InputError where it has
/// not the image's size, ConfigError and InputError as check_cue(). `networks` keeps what the next
/// image needs again; without it, that is put on the device for this image alone.
BoundaryMap boundary_strength(Context& context, const Image& image, const Grid& grid,
                              const CueParameters& parameters, DeviceNetworks& networks,
                              const EdgeMap* edges = nullptr);
BoundaryMap boundary_strength(Context& context, const Image& image, const Grid& grid,
                              const CueParameters& parameters);

/// The maps of several images as one on batch.grid(), where elements between images have no data.
BoundaryMap batched(Context& context, const std::vector<BoundaryMap>& maps, const Batch& batch);

/// What batched() allocates.
void budget_batched(MemoryBudget& budget, const Batch& batch);

/// The gradient on the host in double, written for reading: width * height values.
std::vector<double> reference_gradient(const Image& image, const CueParameters& parameters);

}  // namespace diacut
