#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "opencl/context.hpp"

namespace diacut {

/// A diagonal of the matrix: the one of the neighbour dx to the right and dy down.
struct RegionDiagonal {
  int dx;
  int dy;
};

/// The layout of a product: the matrix lies on a grid with a stride, the vectors on width * height
/// pixels.
struct RegionLayout {
  int width;
  int height;
  std::size_t stride;
  std::size_t pitch;

  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

/// kernels/region/region_product.cl: products within regions for up to kMaxColumns vectors at once.
class RegionProduct {
 public:
  static constexpr int kMaxColumns = 16;

  /// The columns that the kernel computes when asked for `columns`: the next power of two.
  static int padded_columns(int columns);

  RegionProduct(Context& context, const RegionLayout& layout,
                std::span<const RegionDiagonal> diagonals);

  /// Enqueues the product. `columns` is a result of padded_columns(); x and out hold width * height
  /// * columns values or more, region width * height, root stride * height. The program is built at
  /// the first call with these columns. Throws DeviceError.
  void launch(const Buffer<float>& values, const Buffer<float>& root,
              const Buffer<std::int32_t>& region, const Buffer<float>& x, int columns,
              Buffer<float>& out);

 private:
  Context* context_;
  RegionLayout layout_;
  std::string options_;
  std::map<int, cl::Kernel> kernels_;
};

}  // namespace diacut
