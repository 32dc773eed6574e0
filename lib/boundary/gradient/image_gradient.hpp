#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// The planes of a structure tensor: sums over the channels of gx * gx, gx * gy and gy * gy for the
/// gradient (gx, gy) of a channel. Each has grid.pixels() elements, pixel (x, y) at y * width + x.
struct StructureTensor {
  Buffer<float> xx;
  Buffer<float> xy;
  Buffer<float> yy;
};

/// kernels/boundary/gradient/image_gradient.cl: the structure tensor of an image at a scale (Di
/// Zenzo, A note on the gradient of a multi-image, CVGIP 33, 1986). All calls enqueue and return.
/// Planes have grid.pixels() elements, pixel (x, y) at y * width + x; `valid` has grid.rows()
/// elements.
class ImageGradient {
 public:
  /// smooth[t], t = 0 to radius, is the Gaussian t pixels from its centre; derivative[t - 1], t = 1
  /// to radius, is the weight of the difference between the pixels t ahead and t behind.
  ImageGradient(Context& context, const Grid& grid, const std::vector<float>& smooth,
                const std::vector<float>& derivative);

  /// Writes to pixels of a channel's plane without data the value of the nearest pixel with data.
  void fill(Buffer<float>& plane, const Buffer<std::uint8_t>& valid);
  /// Adds the products of the gradient of a channel to the tensor; with `first` they overwrite it.
  /// `smooth` and `slope` are scratch planes.
  void add_channel(const Buffer<float>& plane, Buffer<float>& smooth, Buffer<float>& slope,
                   StructureTensor& tensor, bool first);
  /// The magnitude of the gradient, the square root of the larger eigenvalue of the tensor; 0 where
  /// there is no data.
  void magnitude(const StructureTensor& tensor, const Buffer<std::uint8_t>& valid,
                 Buffer<float>& magnitude);

 private:
  Context* context_;
  Grid grid_;
  Buffer<float> weights_;
  Kernel fill_;
  Kernel rows_;
  Kernel columns_;
  Kernel magnitude_;
};

}  // namespace diacut
