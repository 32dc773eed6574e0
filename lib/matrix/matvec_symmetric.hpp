#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "matrix/operator.hpp"
#include "matrix/symmetric_dia.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// How the product divides an image.
struct MatvecSymmetricForm {
  bool tiles = true;  ///< matvec_symmetric_tile.cl, else matvec_symmetric_run.cl.
  int lanes_x = 32;   ///< tile: work-items of a group.
  int lanes_y = 8;
  int pixels_x = 4;  ///< tile: a work-item's run, 4, 8 or 16; run: a work-item's block.
  int pixels_y = 1;
  int parts = 1;         ///< tile: work-items that share a run, 1, 2 or 4.
  int most_vectors = 8;  ///< At once; more go in several passes.
};

/// The form measured to be best for `vectors` at once.
MatvecSymmetricForm matvec_symmetric_form(const DeviceInfo& device, const SymmetricLayout& layout,
                                          int vectors);

/// Which vectors of two buffers a product takes: in[(in_first + v) * pitch + i] and
/// out[(out_first + v) * pitch + i] for v < count. They must not overlap.
struct VectorBlock {
  int count = 1;
  std::size_t pitch = 0;
  std::size_t in_first = 0;
  std::size_t out_first = 0;
};

/// The product with a compressed matrix, for one vector or a block of them. A vector holds numbers
/// of magnitude below 2^15 (minifloat) or 2^30 (half): they are scaled by powers of two on the way.
/// A program is built at the first call for each number of vectors that go through a kernel at
/// once, and for each of the two functions. Throws DeviceError.
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
  void perform_op(const Buffer<float>& in, Buffer<float>& out) override { perform_op(in, out, {}); }
  void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha, float beta,
                          float gamma) override {
    perform_recurrence(in, out, alpha, beta, gamma, {});
  }
  /// The same for block.count vectors: each weight is read, and decoded, once for several.
  void perform_op(const Buffer<float>& in, Buffer<float>& out, const VectorBlock& block);
  void perform_recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha, float beta,
                          float gamma, const VectorBlock& block);
  /// Products made so far; one of a block counts as many as it has vectors.
  std::int64_t products() const override { return products_; }
  std::string name() const override;

  /// From now on that form, whatever the number of vectors: for measurements and tests.
  void use_form(const MatvecSymmetricForm& form);

 private:
  struct Program {
    MatvecSymmetricForm form;
    int vectors = 1;  ///< Through the kernel at once.
    cl::Kernel kernel;
  };
  struct Key {
    int count;
    bool quads;
    bool recurrence;
    auto operator<=>(const Key&) const = default;
  };
  Program& program(const VectorBlock& block, bool recurrence);
  void launch(const Program& program, const VectorBlock& block);
  cl_uint bind(cl::Kernel& kernel, const Buffer<float>& in, Buffer<float>& out,
               const VectorBlock& block);

  Context* context_;
  std::unique_ptr<const SymmetricDia> own_;
  const SymmetricDia* matrix_;
  std::optional<MatvecSymmetricForm> forced_form_;
  std::map<Key, Program> programs_;
  std::int64_t products_ = 0;
};

}  // namespace diacut
