#pragma once

#include "spmv/spmv.hpp"

namespace diacut {

/// A matrix by diagonals, as kernels/spmv/spmv_dia_*.cl read it. Refers to buffers of the caller.
struct SpmvDiaMatrix {
  const Buffer<float>& values;
  const Buffer<std::int64_t>& offsets;
  const std::vector<std::int64_t>& host_offsets;
  std::size_t pitch;
  std::size_t rows;
  std::size_t cols;
};

struct SpmvDiaForm {
  std::size_t group = 128;  ///< The most work-items in a group.
  std::size_t rows = 1;     ///< Rows that a work-item computes.
  bool compiled = false;    ///< Whether offsets are compiled in: a program for each matrix.
};

class SpmvDia final : public SpmvLauncher {
 public:
  SpmvDia(Context& context, const SpmvDiaMatrix& matrix, const SpmvDiaForm& form, SpmvStore store);
};

}  // namespace diacut
