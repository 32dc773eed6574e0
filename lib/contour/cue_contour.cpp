#include "contour/cue_contour.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kCueContourFile[] = "contour/cue_contour.cl";
constexpr char kName[] = "cue_contour";

}  // namespace

void request_cue_contour(Context& context) { context.kernel(kCueContourFile, kName, ""); }

void launch_cue_contour(Context& context, const Buffer<float>& boundary, std::size_t elements,
                        float weight, Buffer<float>& contour) {
  Kernel kernel = context.kernel(kCueContourFile, kName, "");
  set_arguments(kernel, boundary, contour, elements, weight);
  launch_rows(context, kernel, elements, 1);
}

}  // namespace diacut
