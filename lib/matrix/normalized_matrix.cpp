#include "matrix/normalized_matrix.hpp"

#include <utility>

#include "opencl/context.hpp"

namespace diacut {

NormalizedMatrix::NormalizedMatrix(const Batch& batch, const Stencil& stencil, Buffer<float> values,
                                   Buffer<float> sqrt_degree)
    : batch_(batch),
      stencil_(stencil),
      dia_{dia_shape(batch.grid(), stencil), std::move(values)},
      sqrt_degree_(std::move(sqrt_degree)) {}

void NormalizedMatrix::take(Context& context, SymmetricDia compressed) {
  compressed_ = std::move(compressed);
  context.finish();  // Values that a kernel still reads would not be free for the next allocation.
  dia_.values = {};
  form_ = MatrixForm::kCompressed;
}

void NormalizedMatrix::compress(Context& context) {
  take(context,
       compress_rooted(context, dia_, grid(), stencil(), MatvecStorage::kHalf, sqrt_degree_));
}

void NormalizedMatrix::compress_kept(Context& context) {
  take(context,
       diacut::compress_kept(context, dia_, grid(), stencil(), MatvecStorage::kHalf, sqrt_degree_));
}

NormalizedMatrix NormalizedMatrix::compressed_copy(Context& context) const {
  auto degrees = context.allocate<float>(rows(), "square roots of the degrees");
  copy_elements(sqrt_degree_, 0, degrees, 0, rows());
  NormalizedMatrix copy(batch_, stencil_, {}, std::move(degrees));
  copy.compressed_ =
      diacut::compress_kept(context, dia_, grid(), stencil_, MatvecStorage::kHalf, sqrt_degree_);
  copy.form_ = MatrixForm::kCompressed;
  return copy;
}

void NormalizedMatrix::free_weights() {
  dia_.values = {};
  compressed_ = {};
}

}  // namespace diacut
