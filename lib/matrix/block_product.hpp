#pragma once

#include <map>
#include <memory>
#include <string>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/matrix/block_product.clh: products of a normalized affinity matrix with a block of
/// vectors, by the one of five kernels that suits the device and the form of the matrix.
class BlockProduct {
 public:
  /// For matrices with that stencil in that form, and for the images of a batch that are active
  /// (one image where `active` is null). `columns` is a result of block_columns(). Asks for
  /// the kernel for blocks of that width; the kernel for another width is built at its first
  /// launch.
  BlockProduct(Context& context, const Stencil& stencil, int columns,
               MatrixForm form = MatrixForm::kDia,
               std::shared_ptr<const ActiveSegments> active = nullptr);

  /// What reports call the kernel with that form: "block", "block half".
  static const char* name(MatrixForm form) {
    return form == MatrixForm::kDia ? "block" : "block half";
  }

  int columns() const { return columns_; }
  /// Asks for the kernel for blocks of another width, so that it is built together with others
  /// (opencl/kernel.hpp).
  void prepare(int columns) { kernels_for(columns); }

  /// out = alpha (A x) + beta x + gamma other. Enqueues. `other` may be `out`, `x` may not; with
  /// gamma 0 `other` is not read. Blocks are `columns` wide, a multiple of block_vector(), and hold
  /// at least matrix.rows() * columns values. Precondition: `matrix` has the stencil and the form
  /// that the kernel was built for, and as many images as `active`.
  void launch(const NormalizedMatrix& matrix, const Buffer<float>& x, const Buffer<float>& other,
              Buffer<float>& out, float alpha, float beta, float gamma, int columns);
  /// out = A x, columns() wide.
  void launch(const NormalizedMatrix& matrix, const Buffer<float>& x, Buffer<float>& out) {
    launch(matrix, x, x, out, 1, 0, 0, columns_);
  }

 private:
  Context* context_;
  int columns_;
  std::shared_ptr<const ActiveSegments> active_;
  MatrixForm form_;
  std::string matrix_options_;
  /// A CPU has `one` alone.
  struct Kernels {
    Kernel parts;  ///< Several work-items compute an element.
    Kernel one;    ///< A work-item computes an element,
    Kernel tiles;  ///< or BlockRuns::most_each().
  };
  static Kernels make_kernels(Context& context, const std::string& matrix_options, MatrixForm form,
                              int columns);
  Kernels& kernels_for(int columns);
  std::map<int, Kernels> kernels_;  ///< By program_columns().
};

}  // namespace diacut
