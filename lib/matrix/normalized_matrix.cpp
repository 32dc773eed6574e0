#include "matrix/normalized_matrix.hpp"

#include <utility>

namespace diacut {

NormalizedMatrix::NormalizedMatrix(const Batch& batch, const Stencil& stencil, Buffer<float> values,
                                   Buffer<float> sqrt_degree)
    : layout_{batch, stencil, MatrixForm::kDia},
      dia_{dia_shape(batch.grid(), stencil), std::move(values)},
      sqrt_degree_(std::move(sqrt_degree)) {}

void NormalizedMatrix::compress(Context& context) {
  compressed_ =
      compress_rooted(context, dia_, grid(), stencil(), MatvecStorage::kHalf, sqrt_degree_);
  context.finish();  // Values that a kernel still reads would not be free for the next allocation.
  dia_.values = {};
  layout_.form = MatrixForm::kCompressed;
}

void NormalizedMatrix::free_weights() {
  dia_.values = {};
  compressed_ = {};
}

}  // namespace diacut
