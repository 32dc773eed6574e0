#include "matrix/matvec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace diacut {

std::pair<std::int64_t, std::int64_t> MatvecMatrix::reach() const {
  std::pair<std::int64_t, std::int64_t> result{0, 0};
  for (const std::int64_t offset : offsets) {
    result.first = std::min(result.first, offset);
    result.second = std::max(result.second, offset);
  }
  return result;
}

MatvecLauncher::MatvecLauncher(Context& context, const MatvecMatrix& matrix,
                               const MatvecKernelFile& kernel)
    : context_(&context), group_(std::min(kernel.group, context.info().max_work_group)) {
  const std::size_t items = (matrix.rows + kernel.rows_per_item - 1) / kernel.rows_per_item;
  items_ = round_up(items, group_);
  const std::string options = fmt::format("-DGROUP={} {}", group_, kernel.options);
  plain_ = context.kernel(kernel.file, "matvec", options);
  recurrence_ = context.kernel(kernel.file, "matvec", options + " -DRECURRENCE");
}

Buffer<std::int64_t> MatvecLauncher::upload_offsets(Context& context, const MatvecMatrix& matrix) {
  Buffer<std::int64_t> offsets =
      context.allocate<std::int64_t>(matrix.offsets.size(), "the matrix's offsets");
  offsets.upload(matrix.offsets);
  return offsets;
}

void MatvecLauncher::bind_looped(const MatvecMatrix& matrix, const Buffer<std::int64_t>& offsets) {
  const auto [lowest, highest] = matrix.reach();
  bind(matrix.values.cl(), offsets.cl(), static_cast<cl_uint>(matrix.offsets.size()),
       static_cast<cl_ulong>(matrix.pitch), static_cast<cl_long>(lowest),
       static_cast<cl_long>(highest), static_cast<cl_ulong>(matrix.rows));
}

void MatvecLauncher::prepare(const Buffer<float>&) {}

void MatvecLauncher::product(const Buffer<float>& in, Buffer<float>& out) {
  bind_vectors(plain_, in, out);
  prepare(in);
  launch(plain_);
}

void MatvecLauncher::recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha,
                                float beta, float gamma) {
  bind_vectors(recurrence_, in, out);
  with_device_errors("binding the factors of a recurrence", [&] {
    recurrence_.setArg(bound_ + 2, alpha);
    recurrence_.setArg(bound_ + 3, beta);
    recurrence_.setArg(bound_ + 4, gamma);
  });
  prepare(in);
  launch(recurrence_);
}

void MatvecLauncher::bind_vectors(cl::Kernel& kernel, const Buffer<float>& in, Buffer<float>& out) {
  with_device_errors("binding the vectors of a product", [&] {
    kernel.setArg(bound_, in.cl());
    kernel.setArg(bound_ + 1, out.cl());
  });
}

void MatvecLauncher::launch(const cl::Kernel& kernel) {
  context_->launch(kernel, cl::NDRange(items_), cl::NDRange(group_));
}

}  // namespace diacut
