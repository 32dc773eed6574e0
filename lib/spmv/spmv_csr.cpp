#include "spmv/spmv_csr.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diacut {

namespace {

std::size_t items_of(Context& context, const SpmvCsrForm& form) {
  return std::min(form.items, spmv_group(context.info(), form.group));
}

std::string file(const SpmvCsrForm& form) {
  if (form.items > 1) return "spmv/spmv_csr_vector.cl";
  return form.parts > 1 ? "spmv/spmv_csr_parts.cl" : "spmv/spmv_csr_scalar.cl";
}

/// -DITEMS or -DPARTS for the kernels that take it.
std::string own_options(Context& context, const SpmvCsrForm& form) {
  if (form.items > 1) return fmt::format(" -DITEMS={}", items_of(context, form));
  return form.parts > 1 ? fmt::format(" -DPARTS={}", form.parts) : std::string();
}

}  // namespace

SpmvCsr::SpmvCsr(Context& context, const SpmvCsrMatrix& matrix, const SpmvCsrForm& form,
                 SpmvStore store)
    : SpmvLauncher(
          context, file(form),
          fmt::format("-DGROUP={} -DSTART={} -DBLOCK_ROWS={} -DBLOCK_COLS={}{}",
                      spmv_group(context.info(), form.group), matrix.starts.type(),
                      matrix.block_height, matrix.block_width, own_options(context, form)),
          store,
          {matrix.block_rows * items_of(context, form), spmv_group(context.info(), form.group)}) {
  bind(matrix.starts.cl(), matrix.columns.cl(), matrix.values.cl(),
       static_cast<cl_ulong>(matrix.block_rows), static_cast<cl_ulong>(matrix.rows),
       static_cast<cl_ulong>(matrix.cols));
}

}  // namespace diacut
