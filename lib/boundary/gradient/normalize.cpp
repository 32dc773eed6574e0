#include "boundary/gradient/normalize.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

void launch_gradient_normalize(Context& context, const Grid& grid, const Buffer<float>& values,
                               const Buffer<std::uint8_t>& valid,
                               const Buffer<std::uint32_t>& quantile, float floor,
                               Buffer<float>& boundary) {
  Kernel kernel = context.kernel("boundary/gradient/normalize.cl", "gradient_normalize", "");
  set_arguments(kernel, values, valid, quantile, boundary, grid.width, grid.stride, floor);
  launch_rows(context, kernel, grid.stride, grid.height);
}

}  // namespace diacut
