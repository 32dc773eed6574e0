#include "matrix/matvec_unrolled.hpp"

#include <fmt/format.h>

namespace diacut {

namespace {

/// Terms between two loops over a run: as many streams of memory as prefetchers follow.
constexpr std::size_t kBlockTerms = 16;

std::string options(const MatvecMatrix& matrix, const MatvecUnrolledForm& form) {
  // Without a space, which would end the definition.
  std::string terms;
  for (std::size_t d = 0; d < matrix.offsets.size(); ++d) {
    if (d % kBlockTerms == 0) terms += d == 0 ? "BLOCK(" : ")BLOCK(";
    terms += fmt::format("TERM({},{})", d, matrix.offsets[d]);
  }
  if (!terms.empty()) terms += ')';
  const auto [lowest, highest] = matrix.reach();
  return fmt::format("-DROWS={} -DLANES={} -DPITCH={} -DLOWEST={} -DHIGHEST={} -DTERMS={}",
                     form.rows, form.lanes, matrix.pitch, lowest, highest, terms);
}

}  // namespace

MatvecUnrolledForm matvec_unrolled_form(const DeviceInfo& device) {
  // The sums of 512 rows take 2 KiB of the first cache.
  return device.kind == DeviceKind::kCpu ? MatvecUnrolledForm{1, 512, 16}
                                         : MatvecUnrolledForm{256, 1, 1};
}

MatvecUnrolled::MatvecUnrolled(Context& context, const MatvecMatrix& matrix,
                               const MatvecUnrolledForm& form)
    : MatvecLauncher(
          context, matrix,
          {form.rows == 1 ? "matrix/matvec_unrolled.cl" : "matrix/matvec_unrolled_runs.cl",
           options(matrix, form), form.group, form.rows}) {
  bind(matrix.values.cl(), static_cast<cl_ulong>(matrix.rows));
}

}  // namespace diacut
