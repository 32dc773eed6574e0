#pragma once

#include "boundary/network/planes.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/boundary/network/resize.cl. Both enqueue and return; in and out are different buffers of
/// `channels` planes. The smaller planes have half of the larger ones' sides, rounded up.
void launch_network_pool(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                         const NetworkPlanes& to, Buffer<float>& out, int channels);
void launch_network_upsample(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                             const NetworkPlanes& to, Buffer<float>& out, int channels);

}  // namespace diacut
