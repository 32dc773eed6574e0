#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// A matrix by block rows, as kernels/spmv/spmv_csr_*.cl read it. Refers to buffers of the caller.
struct SpmvCsrMatrix {
  const Positions& starts;
  const Buffer<std::uint32_t>& columns;
  const Buffer<float>& values;
  std::size_t block_rows;
  std::size_t block_height;
  std::size_t block_width;
  std::size_t rows;
  std::size_t cols;
};

struct SpmvCsrForm {
  std::size_t group = 128;  ///< The most work-items in a group, a power of two.
  std::size_t items = 1;    ///< Work-items for a block row, a power of two, at most the group.
  std::size_t parts = 1;    ///< Sums that one work-item keeps; 1 if several work-items share a row.
};

class SpmvCsr final : public SpmvLauncher {
 public:
  SpmvCsr(Context& context, const SpmvCsrMatrix& matrix, const SpmvCsrForm& form, SpmvStore store);
};

}  // namespace diacut
