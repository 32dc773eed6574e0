#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// How a picture's planes lie in memory: pixel (x, y) of a plane of floats is y * width + x, of the
/// map of pixels with data y * stride + x.
struct CueLayout {
  int width = 0;
  int height = 0;
  int stride = 0;

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

/// The structure tensor's planes.
struct CueTensor {
  Buffer<float> xx;
  Buffer<float> xy;
  Buffer<float> yy;
};

/// kernels/boundary/gradient/image_gradient.cl. All calls enqueue and return. Planes hold
/// layout.pixels() elements.
class CueGradient {
 public:
  /// smooth[t], t = 0 to radius: the Gaussian; derivative[t - 1], t = 1 to radius: its derivative's
  /// weight of the difference between the pixels t ahead and t behind.
  CueGradient(Context& context, const CueLayout& layout, const std::vector<float>& smooth,
              const std::vector<float>& derivative);

  /// Bytes that the constructor allocates.
  static std::size_t memory(int radius);

  /// Continues the plane into pixels without data.
  void fill(Buffer<float>& plane, const Buffer<std::uint8_t>& valid);
  /// Adds a channel's gradient to the tensor; the first channel sets it. smooth and slope are
  /// overwritten.
  void add_channel(const Buffer<float>& plane, Buffer<float>& smooth, Buffer<float>& slope,
                   CueTensor& tensor, bool first);
  /// The steepest slope; 0 where there is no data.
  void magnitude(const CueTensor& tensor, const Buffer<std::uint8_t>& valid,
                 Buffer<float>& magnitude);

 private:
  Context* context_;
  CueLayout layout_;
  Buffer<float> weights_;
  cl::Kernel fill_;
  cl::Kernel rows_;
  cl::Kernel columns_;
  cl::Kernel magnitude_;
};

}  // namespace diacut
