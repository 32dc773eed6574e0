#pragma once

#include "opencl/launchers/matvec.hpp"

namespace diacut {

/// The product with the matrix's offsets and pitch compiled in: a program for each shape.
class MatvecUnrolled final : public MatvecLauncher {
 public:
  MatvecUnrolled(Context& context, const MatvecMatrix& matrix);
};

}  // namespace diacut
