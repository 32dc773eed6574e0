#include "matrix/normalized_matrix.hpp"

namespace diacut {

NormalizedMatrix::NormalizedMatrix(const Batch& batch, const Stencil& stencil, Buffer<float> values,
                                   Buffer<float> sqrt_degree)
    : batch_(batch),
      stencil_(stencil),
      dia_{dia_shape(batch.grid(), stencil), std::move(values)},
      sqrt_degree_(std::move(sqrt_degree)) {}

SymmetricDia NormalizedMatrix::rounded(Context& context, MainDiagonal keeps) const {
  return diacut::compress(context, dia_, grid(), stencil_, MatvecStorage::kHalf, keeps,
                          &sqrt_degree_);
}

void NormalizedMatrix::compress(Context& context, MainDiagonal keeps) {
  compressed_ = rounded(context, keeps);
  context.finish();  // Values that a kernel still reads would not be free for the next allocation.
  dia_.values = {};
  form_ = MatrixForm::kCompressed;
}

NormalizedMatrix NormalizedMatrix::compressed_copy(Context& context) const {
  auto degrees = context.allocate<float>(rows(), "square roots of the degrees");
  copy_elements(sqrt_degree_, 0, degrees, 0, rows());
  NormalizedMatrix copy(batch_, stencil_, {}, std::move(degrees));
  copy.compressed_ = rounded(context, MainDiagonal::kKept);
  copy.form_ = MatrixForm::kCompressed;
  return copy;
}

void NormalizedMatrix::free_weights() {
  dia_.values = {};
  compressed_ = {};
}

}  // namespace diacut
