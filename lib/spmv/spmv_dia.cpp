#include "spmv/spmv_dia.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diacut {

namespace {

/// Terms between two loops over a run: as many streams of memory as prefetchers follow.
constexpr std::size_t kBlockTerms = 8;

std::string options(Context& context, const SpmvDiaMatrix& matrix, const SpmvDiaForm& form) {
  std::string result =
      fmt::format("-DROWS={} -DGROUP={}", form.rows, spmv_group(context.info(), form.group));
  if (!form.compiled || matrix.host_offsets.empty()) return result;
  std::string terms;
  std::string blocks;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (std::size_t d = 0; d < matrix.host_offsets.size(); ++d) {
    const std::int64_t offset = matrix.host_offsets[d];
    lowest = std::min(lowest, offset);
    highest = std::max(highest, offset);
    const std::string term = fmt::format("TERM({},{})", d, offset);
    if (d % kBlockTerms == 0) blocks += d == 0 ? "BLOCK(" : ")BLOCK(";
    terms += term;
    blocks += term;
  }
  result += fmt::format(" -DPITCH={} -DLOWEST={} -DHIGHEST={} -DTERMS={}", matrix.pitch, lowest,
                        highest, terms);
  if (form.rows > 1) result += fmt::format(" -DBLOCKS={})", blocks);
  return result;
}

}  // namespace

SpmvDia::SpmvDia(Context& context, const SpmvDiaMatrix& matrix, const SpmvDiaForm& form,
                 SpmvStore store)
    : SpmvLauncher(
          context, "spmv/spmv_dia.cl", options(context, matrix, form), store,
          {round_up(matrix.rows, form.rows) / form.rows, spmv_group(context.info(), form.group)}) {
  bind(matrix.values.cl(), matrix.offsets.cl(), static_cast<cl_uint>(matrix.host_offsets.size()),
       static_cast<cl_ulong>(matrix.pitch), static_cast<cl_ulong>(matrix.rows),
       static_cast<cl_ulong>(matrix.cols));
}

}  // namespace diacut
