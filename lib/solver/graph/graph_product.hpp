#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "opencl/context.hpp"
#include "opencl/kernel_file.hpp"

namespace diacut {

/// A sparse matrix by rows on the host: row r has the entries starts[r] to starts[r + 1].
struct HostCsr {
  std::vector<std::uint32_t> starts = {0};
  std::vector<std::uint32_t> columns;
  std::vector<float> values;

  std::size_t rows() const { return starts.size() - 1; }
};

/// A sparse matrix in CSR form on a device.
class DeviceCsr {
 public:
  DeviceCsr() = default;
  /// Waits until the device has copied the matrix.
  DeviceCsr(Context& context, const HostCsr& matrix);

  std::size_t rows() const { return rows_; }

 private:
  friend class GraphProduct;
  std::size_t rows_ = 0;
  Buffer<std::uint32_t> starts_;
  Buffer<std::uint32_t> columns_;
  Buffer<float> values_;
};

/// kernels/graph/graph_product.cl: products of sparse matrices with blocks of vectors.
class GraphProduct {
 public:
  /// For blocks of at most `columns` columns.
  GraphProduct(Context& context, int columns)
      : GraphProduct(context, columns, context.info().kind) {}
  /// A product whose work is divided as for devices of the given kind, for tests: any device
  /// computes it.
  GraphProduct(Context& context, int columns, DeviceKind kind);

  /// out = keep own + f (p (M x) + q own + r other), f being `factors` or, if that is null, 1. What
  /// a coefficient of 0 multiplies is not read. `own` and `other` have the matrix's rows, as `out`
  /// has; `out` may be `own` or `other`, not `x`.
  struct Terms {
    const Buffer<float>* x = nullptr;
    const Buffer<float>* own = nullptr;
    const Buffer<float>* other = nullptr;
    const Buffer<float>* factors = nullptr;
    float keep = 0;
    float p = 1;
    float q = 0;
    float r = 0;
  };
  /// Enqueues.
  void launch(const DeviceCsr& matrix, const Terms& terms, Buffer<float>& out, int columns);

  /// out_r = factors_r / 2 times the sum over the row of M_rc factors_c (y_r - y_c)^2, for each
  /// column y of a block. Enqueues.
  void energy(const DeviceCsr& matrix, const Buffer<float>& factors, const Buffer<float>& y,
              Buffer<float>& out, int columns);

  /// out = alpha f a + beta out, f being `factors` or, if that is null, 1. With beta 0, `out` is
  /// not read. `rows` rows. Enqueues.
  void scale(const Buffer<float>* factors, float alpha, const Buffer<float>& a, float beta,
             Buffer<float>& out, std::size_t rows, int columns);

 private:
  const KernelFile& kernels_for(int columns, bool energy);
  void launch(const KernelFile& kernels, const DeviceCsr& matrix, const Terms& terms,
              Buffer<float>& out, int columns);

  bool cpu() const { return info_.kind == DeviceKind::kCpu; }

  Context* context_;
  DeviceInfo info_;  ///< Of the device, with the kind that work is divided for.
  std::map<std::pair<int, bool>, KernelFile> kernels_;
};

}  // namespace diacut
