#include "spmv/spmv_bdia.hpp"

#include <fmt/format.h>

namespace diacut {

namespace {

std::string options(Context& context, const SpmvBdiaMatrix& matrix, const SpmvBdiaForm& form) {
  const std::size_t group = spmv_group(context.info(), form.group);
  const std::size_t bytes = (group * form.rows + matrix.widest) * sizeof(float);
  if (form.local && bytes > context.info().local_memory) {
    throw DeviceError(fmt::format(
        "{} has {} bytes of local memory, and a band of {} diagonals needs {}; choose a product "
        "without local memory",
        context.info().name, context.info().local_memory, matrix.widest, bytes));
  }
  return form.local ? fmt::format("-DGROUP={} -DWIDEST={}", group, matrix.widest)
                    : fmt::format("-DGROUP={}", group);
}

std::string file(const SpmvBdiaForm& form) {
  if (form.local) return form.rows == 4 ? "spmv/spmv_bdia_local4.cl" : "spmv/spmv_bdia_local.cl";
  return form.rows == 4 ? "spmv/spmv_bdia_cached4.cl" : "spmv/spmv_bdia_cached.cl";
}

}  // namespace

SpmvBdia::SpmvBdia(Context& context, const SpmvBdiaMatrix& matrix, const SpmvBdiaForm& form,
                   SpmvStore store)
    : SpmvLauncher(
          context, file(form), options(context, matrix, form), store,
          {round_up(matrix.rows, form.rows) / form.rows, spmv_group(context.info(), form.group)}) {
  bind(matrix.values.cl(), matrix.firsts.cl(), matrix.widths.cl(),
       static_cast<cl_uint>(matrix.bands), static_cast<cl_ulong>(matrix.pitch),
       static_cast<cl_ulong>(matrix.rows), static_cast<cl_ulong>(matrix.cols));
}

}  // namespace diacut
