#pragma once

#include <array>
#include <vector>

#include "opencl/launchers/basis.hpp"
#include "opencl/launchers/block.hpp"

namespace diacut {

/// kernels/block_ritz.cl: what a Rayleigh-Ritz step needs on the device.
class BlockRitz {
 public:
  /// For blocks of `columns` columns (block_columns()) and at most `max_rows` elements.
  BlockRitz(Context& context, int columns, std::size_t max_rows);

  /// Bytes that the constructor allocates at most, on any device.
  static std::size_t memory(int columns, std::size_t max_rows);

  /// Gram matrices of S = [X W P], its first `blocks` blocks, with itself and with A S: row-major,
  /// blocks * columns on a side.
  struct Gram {
    int side = 0;
    std::vector<double> with_self;
    std::vector<double> with_product;
  };
  /// `s` and `as` are X, W, P and their products; those from `blocks` on are not read. Waits.
  Gram gram(const std::array<Buffer<float>*, 3>& s, const std::array<Buffer<float>*, 3>& as,
            int blocks, std::size_t rows);

  /// P = W Q_w + P Q_p, then X = X Q_x + P. `rotation`: Q, row-major, blocks * columns by columns.
  void rotation(const std::vector<float>& rotation);
  void combine(const std::array<Buffer<float>*, 3>& s, int blocks, std::size_t rows);

  /// r = A X - X diag(theta); the norms of its columns. Waits.
  std::vector<double> residual(const Buffer<float>& x, const Buffer<float>& ax,
                               const std::vector<float>& theta, std::size_t rows, Buffer<float>& r);

  /// out = M b, M symmetric, rows x rows.
  void dense(const Buffer<float>& matrix, std::size_t rows, const Buffer<float>& b,
             Buffer<float>& out);
  /// Column `column` of x = factor * vector.
  void insert(const Buffer<float>& vector, float factor, std::size_t rows, int column,
              Buffer<float>& x);
  /// The first `count` columns as vectors `pitch` apart.
  void extract(const Buffer<float>& x, std::size_t rows, int count, std::size_t pitch,
               Buffer<float>& basis);

 private:
  Context* context_;
  int columns_;
  int tile_;
  std::size_t sets_;
  std::size_t combined_rows_;
  std::size_t combine_group_;
  DeviceSums partials_;
  DeviceSums sums_;
  Buffer<cl_int4> tiles_;
  std::array<int, 4> tile_counts_{};  ///< By the number of blocks.
  std::array<int, 4> tile_begins_{};
  std::vector<std::array<int, 4>> host_tiles_;
  Buffer<float> rotation_;
  Buffer<float> theta_;
  cl::Kernel gram_;
  cl::Kernel sum_;
  cl::Kernel combine_;
  cl::Kernel residual_;
  cl::Kernel squares_;
  cl::Kernel dense_;
  cl::Kernel insert_;
  cl::Kernel extract_;
};

}  // namespace diacut
