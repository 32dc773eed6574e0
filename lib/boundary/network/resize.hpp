#pragma once

#include "boundary/network/planes.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A kernel of kernels/boundary/network/resize.cl. A caller may ask for it early
/// (opencl/kernel.hpp).
Kernel network_resize_kernel(Context& context);

/// kernels/boundary/network/resize.cl: 2x2 max pooling and bilinear upsampling of `channels`
/// planes. Both enqueue and return. Preconditions: `in` and `out` are different buffers, laid out
/// as `from` and `to`; the sides of the coarser layout are half of the finer ones, rounded up.
void launch_network_pool(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                         const NetworkPlanes& to, Buffer<float>& out, int channels);
void launch_network_upsample(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                             const NetworkPlanes& to, Buffer<float>& out, int channels);

}  // namespace diacut
