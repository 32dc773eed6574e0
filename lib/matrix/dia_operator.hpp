#pragma once

#include <memory>
#include <span>
#include <string>

#include "diacut/parameters.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/operator.hpp"

namespace diacut {

/// Which kernel a product will use and why. `note` is empty, or a sentence for a person: what was
/// asked for cannot run on this device, so the next best was taken.
struct MatvecChoice {
  MatvecKind kind = MatvecKind::kUnrolled;       ///< Never kAuto.
  MatvecStorage storage = MatvecStorage::kAuto;  ///< Of kSymmetric, and then never kAuto.
  std::string note;

  std::string name() const;  ///< "unrolled", "symmetric half".
};

/// What was asked for as it can run on the device: kAuto is resolved, by the device's profile
/// (find_matvec_profile()) or, without one, by a rule; kImage without images of sufficient size
/// becomes the next best. kAuto is a kernel that reads the whole matrix, or the compressed form in
/// one of `storages` where that is faster.
MatvecChoice choose_matvec(const MatvecParameters& asked, const DeviceInfo& device,
                           const DiaShape& shape, std::span<const MatvecStorage> storages = {});

const char* to_string(MatvecKind kind);
/// Throws ConfigError listing the names.
MatvecKind matvec_kind(const std::string& name);

/// The product with a DIA matrix by one of the kernels of kernels/matrix/matvec_*.cl. Keeps a
/// reference to the matrix, which must outlive it. `kind` is not kAuto (see choose_matvec). Builds
/// the kernels at once, so that failures show here. Throws DeviceError.
class DiaOperator final : public DeviceOperator {
 public:
  DiaOperator(Context& context, const DiaMatrix& matrix, MatvecKind kind);
  ~DiaOperator() override;

  std::size_t rows() const override;
  void perform_op(const Buffer<float>& in, Buffer<float>& out) override;
  void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha, float beta,
                          float gamma) override;
  std::int64_t products() const override;
  std::string name() const override;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace diacut
