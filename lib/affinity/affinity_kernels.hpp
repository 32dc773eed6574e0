#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/grid.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// Bresenham's line (Algorithm for computer control of a digital plotter, IBM Systems Journal 4,
/// 1965) from (0, 0) to `end`: its pixels without the first and with the last. Each pixel is one
/// step along the axis in which the line is longer; along the other axis the line is rounded to the
/// nearest pixel, and a half away from the start.
std::vector<StencilOffset> bresenham(StencilOffset end);

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

/// The formula of the affinity for an intervening contour ic: exp(-ic / scale), or, if logistic,
/// exp(-(1 - p) / scale) with p = 1 / (1 + exp(-(bias - slope ic))).
struct AffinityWeight {
  bool logistic = false;
  float inverse_scale = 0;  ///< 1 / scale.
  float bias = 0;
  float slope = 0;
};

/// kernels/affinity/weigh.cl for matrices of an odd number of diagonals.
class AffinityWeigh {
 public:
  AffinityWeigh(Context& context, std::size_t diagonals, const AffinityWeight& weight);

  /// Enqueues: replaces the intervening contours that InterveningContour wrote to `values` by
  /// affinities, and writes every element of the matrix in DIA form. `offsets` has one element for
  /// each diagonal.
  void launch(Buffer<float>& values, const Buffer<std::int64_t>& offsets, std::size_t rows,
              std::size_t pitch);

 private:
  Context* context_;
  AffinityWeight weight_;
  Kernel kernel_;
};

/// The kernels of kernels/affinity/normalize.cl.
struct NormalizeKernels {
  explicit NormalizeKernels(Context& context);

  Kernel degree;
  Kernel normalize;
};

/// Enqueues: sqrt_degree[row], the square root of the sum of row
/// `row` of the matrix, and inverse[row] = 1 / sqrt_degree[row] (0 for a row of zeros); then
/// values[d * pitch + row] *= inverse[row] * inverse[row + offsets[d]]. sqrt_degree and inverse
/// have `rows` elements, offsets one for each diagonal.
void launch_affinity_normalize(Context& context, Buffer<float>& values,
                               const Buffer<std::int64_t>& offsets, std::size_t rows,
                               std::size_t pitch, Buffer<float>& sqrt_degree,
                               Buffer<float>& inverse);

}  // namespace diacut
