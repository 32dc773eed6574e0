#include "opencl/launchers/matvec_unrolled.hpp"

#include <fmt/format.h>

namespace diacut {

namespace {

constexpr std::size_t kBlockTerms = 16;

std::string options(const MatvecMatrix& matrix, std::size_t rows_per_item, std::size_t lanes) {
  // Without a space, which would end the definition.
  std::string terms;
  for (std::size_t d = 0; d < matrix.offsets.size(); ++d) {
    if (d % kBlockTerms == 0) terms += d == 0 ? "BLOCK(" : ")BLOCK(";
    terms += fmt::format("TERM({},{})", d, matrix.offsets[d]);
  }
  if (!terms.empty()) terms += ')';
  const auto [lowest, highest] = matrix.reach();
  return fmt::format("-DROWS={} -DLANES={} -DPITCH={} -DLOWEST={} -DHIGHEST={} -DTERMS={}",
                     rows_per_item, lanes, matrix.pitch, lowest, highest, terms);
}

MatvecKernelFile file_for(const DeviceInfo& device, const MatvecMatrix& matrix) {
  if (device.kind == DeviceKind::kCpu) {
    constexpr std::size_t kRun = 512;  // Its sums take 2 KiB.
    return {"matvec_unrolled.cl", options(matrix, kRun, 16), 1, kRun};
  }
  return {"matvec_unrolled.cl", options(matrix, 1, 1), 256, 1};
}

}  // namespace

MatvecUnrolled::MatvecUnrolled(Context& context, const MatvecMatrix& matrix)
    : MatvecLauncher(context, matrix, file_for(context.info(), matrix)) {
  bind(matrix.values.cl(), static_cast<cl_ulong>(matrix.rows));
}

}  // namespace diacut
