#pragma once

#include <cstddef>

#include "opencl/context.hpp"
#include "region/region_product.hpp"

namespace diacut {

/// kernels/region/links.cl: enqueues the affinities to the right and to the lower neighbour.
/// `right_diagonal` and `down_diagonal` are the diagonals of the neighbours (1, 0) and (0, 1);
/// right and down hold width * height values. Throws DeviceError.
void launch_region_links(Context& context, const RegionLayout& layout, std::size_t right_diagonal,
                         std::size_t down_diagonal, const Buffer<float>& values,
                         const Buffer<float>& root, Buffer<float>& right, Buffer<float>& down);

}  // namespace diacut
