#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/eigen/multilevel/cycle.cl: a V-cycle of two grids, the coarse one solved densely, in one
/// launch: for images so small that a work-group holds one.
class BlockCycle {
 public:
  /// Elements of an image, at most.
  static constexpr std::size_t kMostRows = 1024;
  /// Steps of the smoother before and after the coarse grid.
  static constexpr int kSmoothing = 2;

  /// How work is dealt to work-groups. The result does not depend on `columns`.
  struct Groups {
    /// Columns of a group: 1, 2 or 4. One image keeps few groups busy, each of which reads all of
    /// the matrix: with 4, reads of local memory take longer than those of the matrix.
    int columns = 2;
    /// Items, at most: a power of two. The device may allow fewer.
    std::size_t items = kMostRows;
  };

  /// Whether an image of `image_height` rows of that layout is small enough for the device, and its
  /// work-groups large enough. The height of the layout, that of all images, does not matter.
  static bool fits(const DeviceInfo& device, std::span<const GridDiagonal> diagonals,
                   const GridLayout& layout, int image_height, const Groups& groups);
  static bool fits(const DeviceInfo& device, std::span<const GridDiagonal> diagonals,
                   const GridLayout& layout, int image_height) {
    return fits(device, diagonals, layout, image_height, Groups());
  }

  BlockCycle(Context& context, std::span<const GridDiagonal> diagonals, const Groups& groups,
             std::shared_ptr<const ActiveSegments> active = nullptr);
  BlockCycle(Context& context, std::span<const GridDiagonal> diagonals,
             std::shared_ptr<const ActiveSegments> active = nullptr)
      : BlockCycle(context, diagonals, Groups(), std::move(active)) {}

  /// What the V-cycle takes beside b.
  struct Cycle {
    GridMatrix matrix;             ///< kDia, of all images.
    int image_height = 0;          ///< Of each image; the rows that follow it have no data.
    const Buffer<float>& gain;     ///< Of the interpolation.
    const Buffer<float>& inverse;  ///< As DenseProduct takes them.
    std::array<float, kSmoothing> smoother{};
    float factor = 1;  ///< Of what is restricted.
  };
  /// x = about the inverse of I - A times b, of each active image; what follows an image in x
  /// becomes 0, and is not read of b. Blocks are `columns` wide, a multiple of 4. Enqueues.
  /// Precondition: fits().
  void launch(const Cycle& cycle, const Buffer<float>& b, Buffer<float>& x, int columns);

 private:
  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  int columns_;
  std::size_t items_;
  int reach_ = 0;
  cl::Kernel kernel_;
};

}  // namespace diacut
