#pragma once

#include <cstddef>

#include "opencl/context.hpp"

namespace diacut {

/// kernels/contour/cue_contour.cl.
class CueContour {
 public:
  explicit CueContour(Context& context);
  /// Enqueues: contour = min(weight * boundary, 1) for the first `elements` elements of both.
  void launch(const Buffer<float>& boundary, std::size_t elements, float weight,
              Buffer<float>& contour);

 private:
  Context* context_;
  Kernel kernel_;
};

}  // namespace diacut
