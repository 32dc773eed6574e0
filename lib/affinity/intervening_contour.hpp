#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/grid.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// The line from a pixel to its neighbour by stencil entry `entry`: the positions of the pixels on
/// it relative to the first one, without the first and with the last. Precondition: 0 <= dy <=
/// radius and |dx| <= radius for each.
struct ContourLine {
  std::size_t entry = 0;
  std::vector<StencilOffset> points;
};

/// kernels/affinity/intervening_contour.cl for one stencil and one grid: the intervening contour of
/// Leung and Malik (Contour continuity in region based image segmentation, ECCV 1998).
class InterveningContour {
 public:
  /// `lines` are the lines of the stencil entries after the middle one; diagonals of the matrix lie
  /// `pitch` elements apart.
  InterveningContour(Context& context, const Grid& grid, std::size_t pitch, const Stencil& stencil,
                     const std::vector<ContourLine>& lines);

  /// Elements of the buffer `padded` of launch().
  static std::size_t padded_size(const Grid& grid, int radius);

  /// Enqueues: the intervening contours into `values`, a matrix in DIA form, whose diagonals from
  /// the middle one on are written from row 0 to grid.rows(). `boundary` and `valid` have
  /// grid.rows() elements; `padded` has padded_size() elements and is overwritten.
  void launch(const Buffer<float>& boundary, const Buffer<std::uint8_t>& valid,
              Buffer<float>& padded, Buffer<float>& values);

 private:
  Context* context_;
  Grid grid_;
  int radius_;
  std::size_t pitch_;
  Kernel pad_;
  Kernel contour_;
};

}  // namespace diacut
