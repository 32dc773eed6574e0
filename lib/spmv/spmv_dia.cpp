#include "spmv/spmv_dia.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diacut {

namespace {

/// Terms that the compiled-in run adds in one pass over its rows: as many streams of memory as the
/// prefetchers of a CPU follow.
constexpr std::size_t kBlockTerms = 8;

/// A matrix without diagonals has no offsets to compile in.
bool compiled(const SpmvDiaMatrix& matrix, const SpmvDiaForm& form) {
  return form.compiled && !matrix.host_offsets.empty();
}

std::string file(const SpmvDiaMatrix& matrix, const SpmvDiaForm& form) {
  if (compiled(matrix, form)) {
    return form.rows > 1 ? "spmv/spmv_dia_compiled_run.cl" : "spmv/spmv_dia_compiled.cl";
  }
  return form.rows > 1 ? "spmv/spmv_dia_run.cl" : "spmv/spmv_dia_row.cl";
}

std::string options(Context& context, const SpmvDiaMatrix& matrix, const SpmvDiaForm& form) {
  std::string result = fmt::format("-DGROUP={}", spmv_group(context.info(), form.group));
  if (form.rows > 1) result += fmt::format(" -DROWS={}", form.rows);
  if (!compiled(matrix, form)) return result;
  std::string terms;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (std::size_t d = 0; d < matrix.host_offsets.size(); ++d) {
    const std::int64_t offset = matrix.host_offsets[d];
    lowest = std::min(lowest, offset);
    highest = std::max(highest, offset);
    if (form.rows > 1 && d % kBlockTerms == 0) terms += d == 0 ? "BLOCK(" : ")BLOCK(";
    terms += fmt::format("TERM({},{})", d, offset);
  }
  return result + fmt::format(" -DPITCH={} -DLOWEST={} -DHIGHEST={} {}", matrix.pitch, lowest,
                              highest,
                              form.rows > 1 ? "-DBLOCKS=" + terms + ")" : "-DTERMS=" + terms);
}

}  // namespace

SpmvDia::SpmvDia(Context& context, const SpmvDiaMatrix& matrix, const SpmvDiaForm& form,
                 SpmvStore store)
    : SpmvLauncher(
          context, file(matrix, form), options(context, matrix, form), store,
          {round_up(matrix.rows, form.rows) / form.rows, spmv_group(context.info(), form.group)}) {
  bind(matrix.values.cl(), matrix.offsets.cl(), static_cast<cl_uint>(matrix.host_offsets.size()),
       static_cast<cl_ulong>(matrix.pitch), static_cast<cl_ulong>(matrix.rows),
       static_cast<cl_ulong>(matrix.cols));
}

}  // namespace diacut
