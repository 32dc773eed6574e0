#pragma once

#include "opencl/context.hpp"
#include "opencl/launchers/network_planes.hpp"

namespace diacut {

/// kernels/network_resize.cl. Both enqueue and return; in and out are different buffers of
/// `channels` planes. The smaller planes have half of the larger ones' sides, rounded up.
void launch_network_pool(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                         const NetworkPlanes& to, Buffer<float>& out, int channels);
void launch_network_upsample(Context& context, const NetworkPlanes& from, const Buffer<float>& in,
                             const NetworkPlanes& to, Buffer<float>& out, int channels);

}  // namespace diacut
