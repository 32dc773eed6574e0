#include "eigen/multilevel/coarsen.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {
constexpr char kFile[] = "eigen/multilevel/coarsen.cl";
}  // namespace

Coarsen::Coarsen(Context& context, const Stencil& stencil, std::size_t levels, NullSpace null_space)
    : context_(&context),
      stencil_(stencil),
      null_space_(null_space),
      run_(context.info().kind == DeviceKind::kCpu ? 16 : 1) {
  orphans_ = context.allocate<std::int32_t>(levels, "a flag of each grid");
  orphans_.fill(0);
  matrix_ = context.kernel(kFile, "coarsen_matrix", options(MatrixForm::kDia));
  if (run_ == 1) {
    lines_ = context.kernel(kFile, "coarsen_matrix_lines", options(MatrixForm::kDia));
  }
}

std::string Coarsen::options(MatrixForm form) const {
  std::string bands = matrix_options(context_->info(), stencil_, form);
  if (null_space_ == NullSpace::kNone) bands += " -DLEAKING";
  return form == MatrixForm::kDia ? fmt::format("{} -DRUN={}", bands, run_) : bands;
}

Kernel& Coarsen::gain_kernel(MatrixForm form) {
  Kernel& kernel = gains_[form];
  if (!kernel) kernel = context_->kernel(kFile, "coarsen_gain", options(form));
  return kernel;
}

void Coarsen::gains(const NormalizedMatrix& matrix, Buffer<float>& gain,
                    Buffer<float>& coarse_sqrt_degree, int level) {
  const Grid grid = matrix.grid();
  Kernel& kernel = gain_kernel(matrix.form());
  set_arguments_from(kernel, set_matrix(kernel, matrix), matrix.sqrt_degree(), grid.width,
                     grid.height, grid.stride, gain, coarse_sqrt_degree, orphans_, level);
  context_->launch(kernel, cl::NDRange(round_up(grid.rows(), kRowGroup)), cl::NDRange(kRowGroup));
}

void Coarsen::matrix(const NormalizedMatrix& matrix, const Buffer<float>& gain,
                     Buffer<float>& coarse, std::size_t coarse_pitch) {
  const Grid grid = matrix.grid();
  const auto width = static_cast<std::size_t>((grid.width + 1) / 2);
  const auto height = static_cast<std::size_t>((grid.height + 1) / 2);
  const std::size_t runs = round_up(width, run_) / run_ * height;
  const std::size_t group = run_ == 1 ? kRowGroup : 1;
  const std::size_t later_lines = static_cast<std::size_t>(stencil_.radius) + 1;
  const bool by_lines = run_ == 1 && runs * later_lines >= kManyItems;
  Kernel& kernel = by_lines ? lines_ : matrix_;
  set_arguments(kernel, matrix.dia().values, matrix.shape().pitch, gain, grid.width, grid.height,
                grid.stride, coarse, coarse_pitch);
  context_->launch(
      kernel, cl::NDRange(round_up(runs, group), by_lines ? later_lines : stencil_.size() / 2 + 1),
      cl::NDRange(group, 1));
}

}  // namespace diacut
