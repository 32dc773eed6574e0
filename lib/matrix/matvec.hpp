#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "diacut/parameters.hpp"
#include "matrix/dia_matrix.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/symmetric_dia.hpp"
#include "opencl/buffer.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// A symmetric linear operator over device vectors, which Krylov solvers take. The names are those
/// that Spectra gives its operators on the host.
class DeviceOperator {
 public:
  virtual ~DeviceOperator() = default;

  virtual std::size_t rows() const = 0;
  std::size_t cols() const { return rows(); }

  /// out = A in. Both hold rows() elements or more; they are not the same buffer. Enqueues and
  /// returns.
  virtual void perform_op(const Buffer<float>& in, Buffer<float>& out) = 0;

  /// out = alpha (A in) + beta in + gamma out, in one pass: a step of a three-term recurrence. With
  /// gamma 0 the old contents of `out` are not read (they may be NaN).
  virtual void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha,
                                  float beta, float gamma) = 0;

  /// Products made so far, by either function.
  virtual std::int64_t products() const = 0;

  /// What reports call the kernel that makes the products: "unrolled", "symmetric half".
  virtual std::string name() const = 0;
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
/// (find_matvec_profile()) or, without one, by a rule; kImage without images of sufficient size
/// becomes the next best. kAuto is a kernel that reads the whole matrix, or the compressed form in
/// one of `storages` where that is faster.
MatvecChoice choose_matvec(const MatvecParameters& asked, const DeviceInfo& device,
                           const DiaShape& shape, std::span<const MatvecStorage> storages = {});

const char* to_string(MatvecKind kind);
/// Throws ConfigError listing the names.
MatvecKind matvec_kind(const std::string& name);

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

/// How matvec_unrolled divides the rows.
struct MatvecUnrolledForm {
  std::size_t group = 256;  ///< Work-items a group.
  std::size_t rows = 1;     ///< Rows a work-item, a multiple of lanes.
  std::size_t lanes = 1;    ///< Rows a vector: 1, 4 or 16.
};

/// The product with a DIA matrix by one of the kernels of kernels/matrix/matvec_*.cl. Keeps a
/// reference to the matrix, which must outlive it. `kind` is not kAuto (see choose_matvec). Builds
/// the kernels at once, so that failures show here. Vectors hold at least the matrix's rows, and
/// nothing beyond the rows is read or written. Throws DeviceError.
class DiaOperator final : public DeviceOperator {
 public:
  DiaOperator(Context& context, const DiaMatrix& matrix, MatvecKind kind);
  /// kUnrolled in a form that need not be the device's own.
  DiaOperator(Context& context, const DiaMatrix& matrix, const MatvecUnrolledForm& form);

  std::size_t rows() const override { return rows_; }
  void perform_op(const Buffer<float>& in, Buffer<float>& out) override;
  void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha, float beta,
                          float gamma) override;
  std::int64_t products() const override { return products_; }
  std::string name() const override { return to_string(kind_); }

 private:
  /// A product kernel, how to build it and how it divides the rows.
  struct File {
    std::string file;
    std::string options;
    std::size_t group = 128;  ///< Work-items a group, at most; the kernel gets it as -DGROUP.
    std::size_t rows_per_item = 1;
  };
  void make(const DiaMatrix& matrix, MatvecKind kind);
  /// Offsets and pitch are compiled in: a program for each shape.
  void make_unrolled(const DiaMatrix& matrix, const MatvecUnrolledForm& form);
  /// Offsets are read at run time: one program serves every matrix.
  void make_looped(const DiaMatrix& matrix, const File& file);
  /// As make_looped(); every product copies `in` to an image first.
  void make_image(const DiaMatrix& matrix);
  /// Builds both forms.
  void build(const File& file);
  /// Sets the kernels' first arguments; in, out and the factors of the recurrence follow them.
  template <class... Arguments>
  void bind(const Arguments&... arguments);
  void launch(const cl::Kernel& kernel, const Buffer<float>& in);

  Context* context_;
  std::size_t rows_;
  MatvecKind kind_;
  std::size_t group_ = 0;
  std::size_t items_ = 0;
  cl::Kernel plain_;
  cl::Kernel recurrence_;
  cl_uint bound_ = 0;
  Buffer<std::int64_t> offsets_;  ///< Empty where they are compiled in.
  MatvecImageSize size_;          ///< Of kImage.
  cl::Image2D image_;
  Kernel copy_;
  std::int64_t products_ = 0;
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
      : context_(&context), matrix_(&matrix) {}
  SymmetricOperator(Context& context, SymmetricDia&& matrix)
      : context_(&context),
        own_(std::make_unique<const SymmetricDia>(std::move(matrix))),
        matrix_(own_.get()) {}

  std::size_t rows() const override { return matrix_->grid.rows(); }
  void perform_op(const Buffer<float>& in, Buffer<float>& out) override;
  void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha, float beta,
                          float gamma) override;
  std::int64_t products() const override { return products_; }
  std::string name() const override;

  /// From now on that form: for measurements and tests.
  void use_form(const MatvecSymmetricForm& form);

 private:
  MatvecSymmetricForm form() const;
  /// A kernel with its first arguments; the factors of the recurrence follow them.
  cl_uint bind(Kernel& kernel, const Buffer<float>& in, Buffer<float>& out, bool recurrence);
  void launch(const Kernel& kernel);

  Context* context_;
  std::unique_ptr<const SymmetricDia> own_;
  const SymmetricDia* matrix_;
  std::optional<MatvecSymmetricForm> forced_form_;
  Kernel plain_;  ///< Made when it is first used, as the other one is.
  Kernel recurrence_;
  std::int64_t products_ = 0;
};

}  // namespace diacut
