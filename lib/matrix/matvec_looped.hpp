#pragma once

#include "matrix/matvec.hpp"

namespace diacut {

/// The product kernels that read the offsets at run time and have the same arguments: one program
/// serves every matrix.
class MatvecLooped final : public MatvecLauncher {
 public:
  /// kernels/matrix/matvec_<step>.cl
  enum class Step { kNaive, kAligned, kLocal, kVectorized, kCoarsened };

  MatvecLooped(Context& context, const MatvecMatrix& matrix, Step step);

 private:
  Buffer<std::int64_t> offsets_;
};

}  // namespace diacut
