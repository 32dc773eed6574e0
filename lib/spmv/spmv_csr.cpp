#include "spmv/spmv_csr.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diacut {

namespace {

std::size_t items_of(Context& context, const SpmvCsrForm& form) {
  return std::min(form.items, spmv_group(context.info(), form.group));
}

}  // namespace

SpmvCsr::SpmvCsr(Context& context, const SpmvCsrMatrix& matrix, const SpmvCsrForm& form,
                 SpmvStore store)
    : SpmvLauncher(
          context, "spmv/spmv_csr.cl",
          fmt::format("-DITEMS={} -DPARTS={} -DGROUP={} -DSTART={} -DBLOCK_ROWS={} -DBLOCK_COLS={}",
                      items_of(context, form), form.parts, spmv_group(context.info(), form.group),
                      matrix.starts.type(), matrix.block_height, matrix.block_width),
          store,
          {matrix.block_rows * items_of(context, form), spmv_group(context.info(), form.group)}) {
  bind(matrix.starts.cl(), matrix.columns.cl(), matrix.values.cl(),
       static_cast<cl_ulong>(matrix.block_rows), static_cast<cl_ulong>(matrix.rows),
       static_cast<cl_ulong>(matrix.cols));
}

}  // namespace diacut
