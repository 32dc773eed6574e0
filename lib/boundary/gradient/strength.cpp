#include "boundary/gradient/strength.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

void launch_cue_strength(Context& context, const CueLayout& layout, const Buffer<float>& values,
                         const Buffer<std::uint8_t>& valid, const Buffer<std::uint32_t>& quantile,
                         float floor, Buffer<float>& strength) {
  cl::Kernel kernel = context.kernel("boundary/gradient/strength.cl", "cue_strength", "");
  set_arguments(kernel, values, valid, quantile, strength, layout.width, layout.stride, floor);
  launch_rows(context, kernel, layout.stride, layout.height);
}

}  // namespace diacut
