#pragma once

#include <memory>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/eigen/multilevel/dense_product.cl: products of dense symmetric matrices with blocks.
class DenseProduct {
 public:
  /// For the images of a batch that are active; null for one image. Blocks of at most `columns`
  /// columns.
  DenseProduct(Context& context, int columns,
               std::shared_ptr<const ActiveSegments> active = nullptr);

  /// out = M b, blocks `columns` wide. `matrices`: one for each image of the batch, `rows` by
  /// `rows`, which follow each other, as the images' segments do in the blocks. Enqueues.
  void launch(const Buffer<float>& matrices, std::size_t rows, const Buffer<float>& b,
              Buffer<float>& out, int columns);

 private:
  Context* context_;
  std::shared_ptr<const ActiveSegments> active_;
  Kernel kernel_;
};

}  // namespace diacut
