#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "diacut/parameters.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/symmetric_dia.hpp"
#include "opencl/buffer.hpp"
#include "opencl/context.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

/// What a product becomes in a three-term recurrence: out = alpha (A in) + beta in + gamma out.
/// With gamma 0 the old contents of `out` are not read (they may be NaN).
struct Recurrence {
  float alpha = 1;
  float beta = 0;
  float gamma = 0;
};

/// Sets the factors of a recurrence, or nothing for a product alone, for KernelFile.
void set_argument(cl::Kernel& kernel, cl_uint& index, const Recurrence* recurrence);

/// A symmetric linear operator over device vectors, which Krylov solvers take.
class DeviceOperator {
 public:
  virtual ~DeviceOperator() = default;

  virtual std::size_t rows() const = 0;

  /// out = A in. Both hold rows() elements or more; they are not the same buffer. Enqueues and
  /// returns.
  void perform_op(const Buffer<float>& in, Buffer<float>& out) {
    launch(in, out, nullptr);
    ++products_;
  }
  /// The step of a recurrence, in one pass.
  void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, const Recurrence& step) {
    launch(in, out, &step);
    ++products_;
  }

  /// Products made so far, by either function.
  std::int64_t products() const { return products_; }

  /// What reports call the kernel that makes the products: "unrolled", "symmetric half".
  virtual std::string name() const = 0;

 private:
  /// `recurrence`: null for the product alone.
  virtual void launch(const Buffer<float>& in, Buffer<float>& out,
                      const Recurrence* recurrence) = 0;

  std::int64_t products_ = 0;
};

/// Which kernel a product will use and why. `note` is empty, or a sentence for a person: what was
/// asked for cannot run on this device, so the next best was taken.
struct MatvecChoice {
  MatvecKind kind = MatvecKind::kUnrolled;       ///< Never kAuto.
  MatvecStorage storage = MatvecStorage::kAuto;  ///< Of kSymmetric, and then never kAuto.
  std::string note;

  std::string name() const;  ///< "unrolled", "symmetric half".
};

/// What was asked for as it can run on the device: kAuto is resolved, by the device's profile
/// (find_matvec_profile()) or, without one, by a rule; kImage becomes kUnrolled on a CPU, which
/// emulates images, and where images are missing or too small. kAuto is a kernel that reads the
/// whole matrix, or the compressed form in one of `storages` where that is faster.
MatvecChoice choose_matvec(const MatvecParameters& asked, const DeviceInfo& device,
                           const DiaShape& shape, std::span<const MatvecStorage> storages = {});

const char* to_string(MatvecKind kind);
/// Both throw ConfigError listing the names.
MatvecKind matvec_kind(const std::string& name);
MatvecStorage matvec_storage(const std::string& name);

/// How a vector lies in an image of float4 texels: whole rows of a power of two texels.
struct MatvecImageSize {
  std::size_t width_log2 = 0;
  std::size_t height = 0;  ///< Whole rows: 0 for a vector shorter than one.

  /// Floats a row of the image.
  std::size_t row_floats() const { return std::size_t{4} << width_log2; }
};

/// For a vector of `rows` floats, within the device's limits; {0, 0} where it has no images or
/// none that is large enough.
MatvecImageSize matvec_image_size(const DeviceInfo& device, std::size_t rows);

/// The product with a DIA matrix by one of the kernels of kernels/matrix/matvec_*.cl. Keeps a
/// reference to the matrix, which must outlive it. `kind` is not kAuto (see choose_matvec). Builds
/// the kernels at once, so that failures show here. Vectors hold at least the matrix's rows, and
/// nothing beyond the rows is read or written. Throws DeviceError.
class DiaOperator final : public DeviceOperator {
 public:
  DiaOperator(Context& context, const DiaMatrix& matrix, MatvecKind kind);

  std::size_t rows() const override { return matrix_->shape.rows; }
  std::string name() const override { return to_string(kind_); }

 private:
  void launch(const Buffer<float>& in, Buffer<float>& out, const Recurrence* recurrence) override;

  const DiaMatrix* matrix_;
  MatvecKind kind_;
  MatvecImageSize size_;  ///< Of kImage.
  std::size_t group_ = 0;
  std::size_t items_ = 0;
  std::vector<KernelFile> kernels_;  ///< Of the product, of the recurrence, and of kImage the copy.
  Buffer<std::int64_t> offsets_;     ///< Empty where they are compiled in.
  cl::Image2D image_;                ///< Of kImage.
};

/// The product of a normalized affinity matrix with single vectors. A matrix in DIA form is
/// multiplied by the kernel that `choice` names; for MatvecKind::kSymmetric the operator makes, and
/// owns, a compressed copy of it (compress()). A matrix in compressed form is multiplied as it is,
/// whatever `choice` says. The matrix must outlive the operator. Builds the kernels of a matrix in
/// DIA form at once, so that failures show here. Throws DeviceError.
std::unique_ptr<DeviceOperator> make_matvec(Context& context, const NormalizedMatrix& matrix,
                                            const MatvecChoice& choice);

/// How the product divides an image.
struct MatvecSymmetricForm {
  bool tiles = true;  ///< matvec_symmetric_tile.cl, else matvec_symmetric_run.cl.
  int lanes_x = 32;   ///< tile: work-items of a group.
  int lanes_y = 8;
  int pixels_x = 4;  ///< tile: a work-item's run, 4, 8 or 16; run: a work-item's block.
  int pixels_y = 1;
  int parts = 1;  ///< tile: work-items that share a run, 1, 2 or 4.
};

/// The form measured to be best.
MatvecSymmetricForm matvec_symmetric_form(const DeviceInfo& device, const SymmetricLayout& layout);

/// The product with a compressed matrix. A vector holds numbers of magnitude below 2^15 (minifloat)
/// or 2^30 (half): they are scaled by powers of two on the way. A program is built at the first
/// call of each of the two functions. Throws DeviceError.
class SymmetricOperator final : public DeviceOperator {
 public:
  /// The matrix must outlive the operator.
  SymmetricOperator(Context& context, const SymmetricDia& matrix)
      : SymmetricOperator(context, matrix, matvec_symmetric_form(context.info(), matrix.layout)) {}
  /// In another form, for measurements and tests.
  SymmetricOperator(Context& context, const SymmetricDia& matrix, const MatvecSymmetricForm& form)
      : context_(&context), matrix_(&matrix), form_(form) {}
  SymmetricOperator(Context& context, std::unique_ptr<const SymmetricDia> matrix)
      : SymmetricOperator(context, *matrix) {
    own_ = std::move(matrix);
  }

  std::size_t rows() const override { return matrix_->grid.rows(); }
  std::string name() const override;

 private:
  void launch(const Buffer<float>& in, Buffer<float>& out, const Recurrence* recurrence) override;

  Context* context_;
  std::unique_ptr<const SymmetricDia> own_;
  const SymmetricDia* matrix_;
  MatvecSymmetricForm form_;
  std::map<bool, KernelFile> kernels_;  ///< By whether they are of a recurrence.
};

}  // namespace diacut
