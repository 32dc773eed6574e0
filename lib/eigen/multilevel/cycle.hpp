#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/eigen/multilevel/cycle.cl: a V-cycle of two grids, the coarse one solved densely, in one
/// launch: for images so small that a work-group holds one.
class BlockCycle {
 public:
  /// The most elements of an image.
  static constexpr std::size_t kMostRows = 1024;
  /// Steps of the smoother before and after the coarse grid.
  static constexpr int kSmoothing = 2;

  /// How work is dealt to work-groups. The result does not depend on `columns`.
  struct Groups {
    /// Columns of the block that a work-group takes: 1, 2 or 4. Each work-group reads the whole
    /// matrix, so more columns save reads of the matrix; but with 4, reads of local memory take
    /// longer than reads of the matrix.
    int columns = 2;
    /// The most work-items of a work-group: a power of two. The device may allow fewer.
    std::size_t items = kMostRows;
  };

  /// Whether each image of the batch is small enough for a work-group of the device, for a stencil
  /// of that radius. How many images there are does not matter.
  static bool fits(const DeviceInfo& device, const Batch& batch, int radius, const Groups& groups);
  static bool fits(const DeviceInfo& device, const Batch& batch, int radius) {
    return fits(device, batch, radius, Groups());
  }

  /// For matrices with that stencil, in DIA form, and for the images of a batch that are active
  /// (one image where `active` is null).
  BlockCycle(Context& context, const Stencil& stencil, const Groups& groups,
             std::shared_ptr<const ActiveSegments> active = nullptr);
  BlockCycle(Context& context, const Stencil& stencil,
             std::shared_ptr<const ActiveSegments> active = nullptr)
      : BlockCycle(context, stencil, Groups(), std::move(active)) {}

  /// What the V-cycle takes beside b.
  struct Cycle {
    const NormalizedMatrix& matrix;  ///< The matrix of the finer grid.
    const Buffer<float>& gain;       ///< The gains of the interpolation (Coarsen::gains()).
    const Buffer<float>& inverse;    ///< The coarse grid's inverses, as DenseProduct takes them.
    std::array<float, kSmoothing> smoother{};  ///< The smoother's steps.
    float restriction_factor = 1;              ///< The factor of the restriction.
  };
  /// x = about the inverse of I - A times b, for each active image. Elements of x that follow an
  /// image's last row become 0; elements of b there are not read. Blocks are `columns` wide, a
  /// multiple of 4. Enqueues. Precondition: fits().
  void launch(const Cycle& cycle, const Buffer<float>& b, Buffer<float>& x, int columns);

 private:
  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  int columns_;
  std::size_t items_;
  int radius_;
  Kernel kernel_;
};

}  // namespace diacut
