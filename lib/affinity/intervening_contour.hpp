#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// A pixel relative to another: dx to the right, dy down.
struct ContourPoint {
  int dx = 0;
  int dy = 0;
};

/// The line of stencil entry `entry`: its pixels after the first, the last included, all with
/// 0 <= dy <= radius and |dx| <= radius.
struct ContourLine {
  std::size_t entry = 0;
  std::vector<ContourPoint> points;
};

/// kernels/affinity/intervening_contour.cl for one stencil and image size.
class AffinityContour {
 public:
  /// An image of width x height in elements y * stride + x, diagonals `pitch` elements apart;
  /// `centre` is the stencil's middle entry.
  AffinityContour(Context& context, int width, int height, int stride, std::size_t pitch,
                  int radius, std::size_t centre, const std::vector<ContourLine>& lines);

  /// Elements of the strength with a border that launch() wants as `padded`.
  static std::size_t padded_size(int height, int stride, int radius);

  /// Enqueues. strength and valid: stride * height elements; padded: padded_size(), is overwritten;
  /// values: the matrix, whose diagonals from `centre` on are written up to their rows.
  void launch(const Buffer<float>& strength, const Buffer<std::uint8_t>& valid,
              Buffer<float>& padded, Buffer<float>& values);

 private:
  Context* context_;
  int width_;
  int height_;
  int stride_;
  int radius_;
  std::size_t pitch_;
  cl::Kernel pad_;
  cl::Kernel contour_;
};

}  // namespace diacut
