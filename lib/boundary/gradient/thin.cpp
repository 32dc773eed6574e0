#include "boundary/gradient/thin.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

void launch_gradient_thin(Context& context, const Grid& grid, float softness,
                          const Buffer<float>& magnitude, const StructureTensor& tensor,
                          Buffer<float>& scratch, Buffer<float>& ridges) {
  constexpr char kFile[] = "boundary/gradient/thin.cl";
  const std::string options = fmt::format("-DSOFTNESS={:#}f", softness);
  Kernel thin = context.kernel(kFile, "gradient_thin", options);
  set_arguments(thin, magnitude, tensor.xx, tensor.xy, tensor.yy, scratch, grid.width, grid.height);
  launch_rows(context, thin, grid.width, grid.height);
  Kernel bridge = context.kernel(kFile, "gradient_bridge", options);
  set_arguments(bridge, scratch, magnitude, ridges, grid.width, grid.height);
  launch_rows(context, bridge, grid.width, grid.height);
}

}  // namespace diacut
