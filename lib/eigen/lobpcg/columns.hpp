#pragma once

#include <cstddef>

#include "matrix/block.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

/// kernels/eigen/lobpcg/columns.cl: vectors into columns of a block and out of them.
class BlockColumns {
 public:
  /// For blocks of `columns` columns.
  BlockColumns(Context& context, int columns);

  /// Column `column` of x = factor * vector, of `segments` segments of `rows` elements that follow
  /// each other, each with its factor: `factors` from `first_factor` on. Enqueues.
  void insert(const Buffer<float>& vector, const Buffer<float>& factors, std::size_t first_factor,
              std::size_t segments, std::size_t rows, int column, Buffer<float>& x);

  /// What extract() takes from one segment of a block: elements [first, first + rows) of the
  /// `count` columns that `columns` names from `first_column` on: c + 1 for column c, -c - 1 for
  /// column c with its sign turned.
  struct Extraction {
    std::size_t first = 0;
    std::size_t rows = 0;
    Uploaded columns;
    std::size_t first_column = 0;
    int count = 0;
  };
  /// Those columns of x as vectors `pitch` apart, 0 from `rows` on. Enqueues.
  void extract(const Buffer<float>& x, const Extraction& from, std::size_t pitch,
               Buffer<float>& vectors);

 private:
  Context* context_;
  int columns_;
  std::size_t rows_;   ///< Elements that a work-group of extract() takes.
  std::size_t group_;  ///< Its work-items.
  Kernel insert_;
  Kernel extract_;
};

}  // namespace diacut
