#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// A matrix by diagonals, as kernels/spmv/spmv_dia.cl reads it. Refers to what the caller holds.
struct SpmvDiaMatrix {
  const Buffer<float>& values;
  const Buffer<std::int64_t>& offsets;
  const std::vector<std::int64_t>& host_offsets;
  std::size_t pitch;
  std::size_t rows;
  std::size_t cols;
};

struct SpmvDiaForm {
  std::size_t group = 128;  ///< Work-items a group, at most.
  std::size_t rows = 1;     ///< Rows a work-item.
  bool compiled = false;    ///< Offsets compiled in: a program for each matrix.
};

class SpmvDia final : public SpmvLauncher {
 public:
  SpmvDia(Context& context, const SpmvDiaMatrix& matrix, const SpmvDiaForm& form, SpmvStore store);
};

}  // namespace diacut
