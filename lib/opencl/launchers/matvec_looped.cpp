#include "opencl/launchers/matvec_looped.hpp"

namespace diacut {

MatvecLooped::MatvecLooped(Context& context, const MatvecMatrix& matrix, const std::string& file,
                           std::size_t group, std::size_t rows_per_item)
    : MatvecLauncher(context, matrix, file, {}, group, rows_per_item),
      offsets_(context.allocate<std::int64_t>(matrix.offsets.size(), "the matrix's offsets")) {
  offsets_.upload(matrix.offsets);
  const auto [lowest, highest] = matrix.reach();
  bind(matrix.values.cl(), offsets_.cl(), static_cast<cl_uint>(matrix.offsets.size()),
       static_cast<cl_ulong>(matrix.pitch), static_cast<cl_long>(lowest),
       static_cast<cl_long>(highest), static_cast<cl_ulong>(matrix.rows));
}

}  // namespace diacut
