#include "matrix/make_matvec.hpp"

#include <string>
#include <utility>

#include "matrix/symmetric_dia.hpp"

namespace diacut {

namespace {

/// A SymmetricOperator together with the matrix that it multiplies by.
class OwningOperator final : public DeviceOperator {
 public:
  OwningOperator(Context& context, SymmetricDia matrix)
      : matrix_(std::move(matrix)), product_(context, matrix_) {}

  std::size_t rows() const override { return product_.rows(); }
  void perform_op(const Buffer<float>& in, Buffer<float>& out) override {
    product_.perform_op(in, out);
  }
  void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha, float beta,
                          float gamma) override {
    product_.perform_recurrence(in, out, alpha, beta, gamma);
  }
  std::int64_t products() const override { return product_.products(); }
  std::string name() const override { return product_.name(); }

 private:
  SymmetricDia matrix_;
  SymmetricOperator product_;
};

}  // namespace

std::unique_ptr<DeviceOperator> make_matvec(Context& context, const NormalizedMatrix& matrix,
                                            const MatvecChoice& choice) {
  if (matrix.form() == MatrixForm::kCompressed) {
    return std::make_unique<SymmetricOperator>(context, matrix.compressed());
  }
  if (choice.kind != MatvecKind::kSymmetric) {
    return std::make_unique<DiaOperator>(context, matrix.dia(), choice.kind);
  }
  return std::make_unique<OwningOperator>(
      context, compress(context, matrix.dia(), matrix.grid(), matrix.stencil(), choice.storage,
                        matrix.sqrt_degree()));
}

}  // namespace diacut
