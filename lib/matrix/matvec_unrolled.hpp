#pragma once

#include <cstddef>

#include "matrix/matvec.hpp"

namespace diacut {

/// How matvec_unrolled divides the rows.
struct MatvecUnrolledForm {
  std::size_t group = 256;  ///< Work-items a group.
  std::size_t rows = 1;     ///< Rows a work-item, a multiple of lanes.
  std::size_t lanes = 1;    ///< Rows a vector: 1, 4 or 16.
};

/// A row an item on GPUs; on CPUs, which make vectors of an item's own work only, a run of rows.
MatvecUnrolledForm matvec_unrolled_form(const DeviceInfo& device);

/// The product with the matrix's offsets and pitch compiled in: a program for each shape.
class MatvecUnrolled final : public MatvecLauncher {
 public:
  MatvecUnrolled(Context& context, const MatvecMatrix& matrix, const MatvecUnrolledForm& form);
};

}  // namespace diacut
