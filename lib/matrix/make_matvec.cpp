#include "matrix/make_matvec.hpp"

#include <string>
#include <utility>

#include "matrix/matvec_symmetric.hpp"

namespace diacut {

std::unique_ptr<DeviceOperator> make_matvec(Context& context, const NormalizedMatrix& matrix,
                                            const MatvecChoice& choice) {
  if (matrix.form() == MatrixForm::kCompressed) {
    return std::make_unique<SymmetricOperator>(context, matrix.compressed());
  }
  if (choice.kind != MatvecKind::kSymmetric) {
    return std::make_unique<DiaOperator>(context, matrix.dia(), choice.kind);
  }
  return std::make_unique<SymmetricOperator>(
      context, compress(context, matrix.dia(), matrix.grid(), matrix.stencil(), choice.storage,
                        matrix.sqrt_degree()));
}

}  // namespace diacut
