#pragma once

#include <cstdint>

#include "boundary/network/output.hpp"
#include "boundary/network/picture_view.hpp"
#include "boundary/network/turn.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/network/blend.cl. A caller may ask for it early (opencl/kernel.hpp).
Kernel network_blend_kernel(Context& context);

/// kernels/boundary/network/blend.cl. Enqueues: adds `share` times the map of a picture turned by
/// `turn`, without its border, turned back and resized to the grid's pixels, to `boundary`; with
/// `first` the result overwrites it instead. `valid` and `boundary` have grid.rows() elements;
/// `boundary` becomes 0 where `valid` is 0. The grid's first pixel is pixel (view.x, view.y) of the
/// picture. Precondition: a map of which a part is in memory is not turned.
void launch_network_blend(Context& context, const NetworkMap& map, const Turn& turn,
                          const Grid& grid, const Buffer<std::uint8_t>& valid, float share,
                          bool first, Buffer<float>& boundary, const PictureView& view);
/// Blends the map of a picture as above, for a grid that has all of the picture's pixels.
void launch_network_blend(Context& context, const NetworkMap& map, const Turn& turn,
                          const Grid& grid, const Buffer<std::uint8_t>& valid, float share,
                          bool first, Buffer<float>& boundary);

}  // namespace diacut
