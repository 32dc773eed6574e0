#include "contour/cue_contour.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

CueContour::CueContour(Context& context)
    : context_(&context), kernel_(context.kernel("contour/cue_contour.cl", "cue_contour", "")) {}

void CueContour::launch(const Buffer<float>& boundary, std::size_t elements, float weight,
                        Buffer<float>& contour) {
  set_arguments(kernel_, boundary, contour, elements, weight);
  launch_rows(*context_, kernel_, elements, 1);
}

}  // namespace diacut
