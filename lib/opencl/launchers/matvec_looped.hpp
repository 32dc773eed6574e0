#pragma once

#include <string>

#include "opencl/launchers/matvec.hpp"

namespace diacut {

/// A product kernel that reads the offsets at run time: one program serves every matrix.
class MatvecLooped final : public MatvecLauncher {
 public:
  MatvecLooped(Context& context, const MatvecMatrix& matrix, const std::string& file,
               std::size_t group, std::size_t rows_per_item);

 private:
  Buffer<std::int64_t> offsets_;
};

}  // namespace diacut
