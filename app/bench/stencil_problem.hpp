#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "matrix/matvec.hpp"
#include "opencl/device_memory.hpp"
#include "spmv/measure/measure.hpp"

namespace diacut::bench {

/// One of the stencil's product kernels, and for the kernel `symmetric` how the matrix is stored.
struct StencilKernel {
  MatvecKind kind = MatvecKind::kAuto;
  MatvecStorage storage = MatvecStorage::kFloat32;

  bool symmetric() const { return kind == MatvecKind::kSymmetric; }
  std::string name() const;  ///< "unrolled", "symmetric half".
};

/// A stencil matrix of random weights, a random vector, and memory for its product, on the device.
class StencilProblem {
 public:
  StencilProblem(Context& context, const Grid& on, const Stencil& of);

  /// Device memory that the problem and its products take.
  static DeviceMemory memory(const Grid& grid, const Stencil& stencil);

  /// Entries whose two pixels both lie in the image.
  std::uint64_t nonzeros() const;
  /// Bytes that a product moves at least: the matrix, the vector and the result once each.
  static std::size_t least_bytes(const StencilKernel& kernel, const Grid& grid,
                                 const Stencil& stencil);

  /// The largest error of `out` = A in over some rows, as a multiple of u sum |a_i x_i|, u = 2^-24.
  /// The rows are the first, the last and some between.
  /// For the kernel `symmetric`, A is the symmetric matrix that it stores: entries of later
  /// neighbours, rounded to the storage.
  double scaled_error(const StencilKernel& kernel) const;

  const Grid grid;
  const Stencil stencil;
  DiaMatrix matrix;
  Buffer<float> in;
  Buffer<float> out;

 private:
  /// Entry (row, col) on diagonal d of the matrix that the kernel multiplies by.
  double weight(const StencilKernel& kernel, std::size_t d, std::size_t row, std::size_t col) const;
  /// The scaled error of one row, whose result is `found`.
  double row_error(const StencilKernel& kernel, std::size_t row, float found) const;

  RandomMatrixShape random_;
  RandomMatrixShape vector_;
};

/// A kernel that is ready to multiply. The problem must outlive it.
class StencilProduct {
 public:
  StencilProduct(Context& context, StencilProblem& problem, const StencilKernel& kernel);

  /// Enqueues out = A in.
  void operator()() { operator_->perform_op(problem_.in, problem_.out); }

 private:
  StencilProblem& problem_;
  SymmetricDia compressed_;
  std::unique_ptr<DeviceOperator> operator_;
};

}  // namespace diacut::bench
