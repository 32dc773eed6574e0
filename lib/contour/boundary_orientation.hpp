#pragma once

#include <cstddef>
#include <vector>

#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/contour/boundary_orientation.cl for one grid: the orientation of boundaries at each
/// pixel.
class BoundaryOrientation {
 public:
  /// Asks for the kernels, so that they are built together with others (opencl/kernel.hpp). `taps`:
  /// the number of weights of all three filters together.
  static void request(Context& context, std::size_t taps);

  /// `taps` are three filters one after the other, of the same odd number of weights: a smoothing
  /// filter and its first and second derivative.
  BoundaryOrientation(Context& context, const Grid& grid, const std::vector<float>& taps);

  /// Bytes of device memory that the constructor allocates; `taps` is the number of weights of all
  /// three filters together.
  static std::size_t memory(const Grid& grid, std::size_t taps);

  /// Enqueues: the angles in [0, pi), from the x axis towards the y axis, into `orientation`. Both
  /// buffers have grid.rows() elements; elements that belong to no pixel are neither read nor
  /// written.
  void launch(const Buffer<float>& boundary, Buffer<float>& orientation);

 private:
  Context* context_;
  Grid grid_;
  int plane_stride_;
  std::size_t lanes_;
  Buffer<float> taps_;
  Buffer<float> planes_;
  Kernel rows_;
  Kernel columns_;
};

}  // namespace diacut
