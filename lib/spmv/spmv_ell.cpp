#include "spmv/spmv_ell.hpp"

#include <fmt/format.h>

namespace diacut {

namespace {

std::string file(const SpmvEllMatrix& matrix) {
  if (matrix.order.size() > 0) return "spmv/spmv_ell_sorted.cl";
  return matrix.sliced ? "spmv/spmv_ell_sliced.cl" : "spmv/spmv_ell.cl";
}

}  // namespace

SpmvEll::SpmvEll(Context& context, const SpmvEllMatrix& matrix, std::size_t lanes, SpmvStore store)
    : SpmvLauncher(
          context, file(matrix),
          fmt::format("-DLANES={} -DSTART={} -DBLOCK_ROWS={} -DBLOCK_COLS={}{}", lanes,
                      matrix.starts.type(), matrix.block_height, matrix.block_width,
                      matrix.sliced ? fmt::format(" -DSLICE={}", matrix.height) : std::string()),
          store, {matrix.block_rows / lanes, 0}) {
  bind(matrix.starts.cl(), matrix.columns.cl(), matrix.values.cl(), matrix.order.cl(),
       static_cast<cl_ulong>(matrix.height), static_cast<cl_ulong>(matrix.block_rows),
       static_cast<cl_ulong>(matrix.rows), static_cast<cl_ulong>(matrix.cols));
}

}  // namespace diacut
