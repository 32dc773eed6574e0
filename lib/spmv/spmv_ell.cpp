#include "spmv/spmv_ell.hpp"

#include <fmt/format.h>

namespace diacut {

SpmvEll::SpmvEll(Context& context, const SpmvEllMatrix& matrix, std::size_t lanes, SpmvStore store)
    : SpmvLauncher(
          context, "spmv/spmv_ell.cl",
          fmt::format("-DLANES={} -DSLICE={} -DSTART={} -DBLOCK_ROWS={} -DBLOCK_COLS={}{}", lanes,
                      matrix.sliced ? matrix.height : 0, matrix.starts.type(), matrix.block_height,
                      matrix.block_width, matrix.order.size() > 0 ? " -DORDER" : ""),
          store, {matrix.block_rows / lanes, 0}) {
  bind(matrix.starts.cl(), matrix.columns.cl(), matrix.values.cl(), matrix.order.cl(),
       static_cast<cl_ulong>(matrix.height), static_cast<cl_ulong>(matrix.block_rows),
       static_cast<cl_ulong>(matrix.rows), static_cast<cl_ulong>(matrix.cols));
}

}  // namespace diacut
