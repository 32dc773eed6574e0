#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "matrix/normalized_matrix.hpp"
#include "opencl/context.hpp"

namespace diacut {

/// kernels/region/region_product.cl: products within regions for up to kMaxColumns vectors at once.
class RegionProduct {
 public:
  static constexpr int kMaxColumns = 16;

  /// The columns that the kernel computes when asked for `columns`: the next power of two.
  static int padded_columns(int columns);

  /// For matrices with that stencil.
  RegionProduct(Context& context, const Stencil& stencil);

  /// Enqueues the product with W, W_ij = s_i A_ij s_j, s = matrix.sqrt_degree(). `columns` is a
  /// result of padded_columns(); x and out hold pixels * columns values or more, region one value a
  /// pixel. The program is built at the first call with these columns. Precondition: `matrix` has
  /// the stencil, and is in DIA form. Throws DeviceError.
  void launch(const NormalizedMatrix& matrix, const Buffer<std::int32_t>& region,
              const Buffer<float>& x, int columns, Buffer<float>& out);

 private:
  Context* context_;
  std::string options_;
  std::map<int, Kernel> kernels_;
};

}  // namespace diacut
