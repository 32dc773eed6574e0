#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "matrix/grid.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

/// How an image lies in a plane with a margin on all sides, so that kernels read the neighbours of
/// every pixel without checking bounds: pixel (x, y) is element (y + rows) * stride + x + columns.
/// Planes are `pitch` elements apart.
struct PlaneGrid {
  int width = 0;
  int height = 0;
  int columns = 0;  ///< Of the margin, on the left; as many or more on the right.
  int rows = 0;     ///< Of the margin, above and below.
  int stride = 0;   ///< The width is rounded up to the widest vector, 16.
  std::size_t pitch = 0;

  PlaneGrid() = default;
  /// `reach`: how far neighbours lie.
  PlaneGrid(int image_width, int image_height, int reach);

  int all_rows() const { return height + 2 * rows; }
  std::size_t elements() const {
    return static_cast<std::size_t>(stride) * static_cast<std::size_t>(all_rows());
  }
  std::size_t element(int x, int y) const {
    return static_cast<std::size_t>(y + rows) * static_cast<std::size_t>(stride) +
           static_cast<std::size_t>(x + columns);
  }
  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  /// The grid of the pixels of every other row and column, with the same reach.
  PlaneGrid decimated() const { return {(width + 1) / 2, (height + 1) / 2, rows}; }
};

/// The kept pixels, those of even x and y, that lie within the stencil's disc around a pixel. They
/// are told by cells: cell (cx, cy) has the pixels (2 cx + px, 2 cy + py) with px and py 0 or 1,
/// whose parity is px + 2 py, and is kept pixel (2 cx, 2 cy).
struct KeptNeighbours {
  /// For each parity in turn, from the pixel's cell to the neighbour's, in reading order.
  std::vector<StencilOffset> cells;
  /// Those of parity p are cells[first[p]] to cells[first[p + 1] - 1].
  std::array<int, 5> first{};

  explicit KeptNeighbours(int radius);
  std::size_t size() const { return cells.size(); }
  /// Of the pixel of a parity: to the neighbour, in pixels.
  StencilOffset in_pixels(int parity, std::size_t k) const {
    return {2 * cells[k].dx - parity % 2, 2 * cells[k].dy - parity / 2};
  }
};

/// The decimation of a graph of pixels to those of every other row and column (J. Pont-Tuset,
/// P. Arbelaez, J. Barron, F. Marques and J. Malik, "Multiscale combinatorial grouping", 2017,
/// section 3). W_iJ is the affinity of pixel i and kept pixel J, w_i its sum over J. A vector y of
/// kept pixels is interpolated to y_i = sum_J (W_iJ / w_i) y_J, and the affinities of the kept
/// pixels become (W_c)_JK = sum_i W_iJ W_iK / w_i, whose row sums are the degrees of J. Both follow
/// from `weights` and `roots`. All matrices of a batch lie one after another.
struct Interpolation {
  PlaneGrid cells;  ///< The kept pixels.
  int radius = 0;
  int images = 1;
  /// W_iJ / sqrt(w_i): for each image a plane of `cells` for each of KeptNeighbours::cells. 0 where
  /// a pixel lies outside of the image or has no data, and in the margin.
  Buffer<float> weights;
  Buffer<float> roots;  ///< 1 / sqrt(w_i), 0 where w_i is 0: for each image a plane a parity.
};

/// Elements that kernels read beyond the last plane.
inline constexpr std::size_t kBehindPlanes = 64;

}  // namespace diacut
