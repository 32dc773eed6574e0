#include "opencl/launchers/matvec_unrolled.hpp"

#include <fmt/format.h>

namespace diacut {

namespace {

constexpr std::size_t kGroup = 128;

std::string options(const MatvecMatrix& matrix) {
  const auto [lowest, highest] = matrix.reach();
  // Without a space, which would end the definition.
  std::string terms;
  for (std::size_t d = 0; d < matrix.offsets.size(); ++d) {
    terms += fmt::format("TERM({},{})", d, matrix.offsets[d]);
  }
  return fmt::format("-DPITCH={} -DLOWEST={} -DHIGHEST={} -DTERMS={}", matrix.pitch, lowest,
                     highest, terms);
}

}  // namespace

MatvecUnrolled::MatvecUnrolled(Context& context, const MatvecMatrix& matrix)
    : MatvecLauncher(context, matrix, {"matvec_unrolled.cl", options(matrix), kGroup, 1}) {
  bind(matrix.values.cl(), static_cast<cl_ulong>(matrix.rows));
}

}  // namespace diacut
