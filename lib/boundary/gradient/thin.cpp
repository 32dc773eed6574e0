#include "boundary/gradient/thin.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

void launch_cue_thin(Context& context, const CueLayout& layout, float softness,
                     const Buffer<float>& magnitude, const CueTensor& tensor,
                     Buffer<float>& scratch, Buffer<float>& ridges) {
  constexpr char kFile[] = "boundary/gradient/thin.cl";
  const std::string options = fmt::format("-DSOFTNESS={:#}f", softness);
  cl::Kernel thin = context.kernel(kFile, "cue_thin", options);
  set_arguments(thin, magnitude, tensor.xx, tensor.xy, tensor.yy, scratch, layout.width,
                layout.height);
  launch_rows(context, thin, layout.width, layout.height);
  cl::Kernel bridge = context.kernel(kFile, "cue_bridge", options);
  set_arguments(bridge, scratch, magnitude, ridges, layout.width, layout.height);
  launch_rows(context, bridge, layout.width, layout.height);
}

}  // namespace diacut
