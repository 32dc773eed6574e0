#include "spmv/spmv_coo.hpp"

#include <fmt/format.h>

#include "spmv/spmv_kernels.hpp"

namespace diacut {

namespace {

std::string options(Context& context, const SpmvCooForm& form) {
  const std::size_t group = spmv_group(context.info(), form.group);
  // A product and a row for each entry, a head and a flag for each work-item.
  const std::size_t bytes = group * (form.share * 8 + 5);
  if (bytes > context.info().local_memory) {
    throw DeviceError(fmt::format(
        "{} has {} bytes of local memory, and the product by entries needs {}; choose one without "
        "local memory",
        context.info().name, context.info().local_memory, bytes));
  }
  return fmt::format("-DGROUP={} -DSHARE={}", group, form.share);
}

std::size_t groups_of(Context& context, const SpmvCooForm& form, std::size_t count) {
  const std::size_t tile = spmv_group(context.info(), form.group) * form.share;
  return round_up(count, tile) / tile;
}

}  // namespace

SpmvCoo::SpmvCoo(Context& context, const SpmvCooMatrix& matrix, const SpmvCooForm& form,
                 SpmvStore store)
    // The kernel always adds, because no work-item writes rows without entries.
    : SpmvLauncher(
          context, "spmv/spmv_coo.cl", options(context, form), SpmvStore::kReplace,
          {groups_of(context, form, matrix.columns.size()) * spmv_group(context.info(), form.group),
           spmv_group(context.info(), form.group)}),
      rows_(matrix.rows),
      groups_(groups_of(context, form, matrix.columns.size())),
      store_(store),
      carries_(context, groups_, "sums across work-groups"),
      carry_(context.kernel("spmv/spmv_coo.cl", "carry", options(context, form),
                            embedded_spmv_kernels())),
      clear_(context.kernel("spmv/spmv_coo.cl", "clear", options(context, form),
                            embedded_spmv_kernels())) {
  bind(matrix.rows_of.cl(), matrix.columns.cl(), matrix.values.cl(),
       static_cast<cl_ulong>(matrix.columns.size()));
  with_device_errors("binding a matrix to its product", [&] {
    kernel().setArg(bound() + 2, carries_.cl());
    clear_.setArg(0, static_cast<cl_ulong>(rows_));
    carry_.setArg(0, matrix.rows_of.cl());
    carry_.setArg(1, static_cast<cl_ulong>(matrix.columns.size()));
    carry_.setArg(2, static_cast<cl_ulong>(groups_));
    carry_.setArg(3, carries_.cl());
  });
}

void SpmvCoo::product(const Buffer<float>& in, Buffer<float>& out) {
  if (store_ == SpmvStore::kReplace) {
    with_device_errors("clearing a product", [&] { clear_.setArg(1, out.cl()); });
    context().launch(clear_, cl::NDRange(rows_), cl::NullRange);
  }
  SpmvLauncher::product(in, out);
  if (groups_ < 2) return;
  with_device_errors("binding the vectors of a product", [&] { carry_.setArg(4, out.cl()); });
  context().launch(carry_, cl::NDRange(groups_ - 1), cl::NullRange);
}

}  // namespace diacut
