#include "matrix/quadratic_form.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "opencl/kernel_file.hpp"
#include "opencl/lanes.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

constexpr std::size_t kColumns = 4;

/// Length of a vector that may be read `reach` elements past `pitch`, with room for a wide load.
std::size_t padded(std::size_t pitch, std::size_t reach) {
  return round_up(pitch + reach + 16, 32);
}

}  // namespace

std::vector<cl_int2> upper_diagonals(const std::vector<std::int64_t>& offsets, std::size_t rows) {
  // In images narrower than the stencil some diagonals of the upper half have offsets that do not
  // lead upwards; all of their entries leave their image row and are zero.
  std::vector<cl_int2> upper;
  for (std::size_t d = offsets.size() / 2 + 1; d < offsets.size(); ++d) {
    if (offsets[d] <= 0 || offsets[d] >= static_cast<std::int64_t>(rows)) continue;
    upper.push_back({{static_cast<cl_int>(d), static_cast<cl_int>(offsets[d])}});
  }
  return upper;
}

std::vector<double> quadratic_forms(Context& context, const NormalizedMatrix& matrix,
                                    const Buffer<float>& basis, int count) {
  const std::size_t rows = matrix.rows();
  const std::size_t pitch = matrix.shape().pitch;
  const LaneShape shape = lane_shape(context.info());
  const std::size_t groups = round_up(pitch, shape.chunk()) / shape.chunk();
  const std::vector<cl_int2> upper = upper_diagonals(matrix.shape().offsets, rows);
  std::int64_t reach = 0;
  for (const cl_int2& each : upper) reach = std::max<std::int64_t>(reach, each.s[1]);
  const std::size_t length = padded(pitch, static_cast<std::size_t>(reach));

  const auto device_upper = device_table(context, upper, "upper diagonals");
  auto scale = context.allocate<float>(length, "square roots of the degrees, padded");
  auto y = context.allocate<float>(length * kColumns, "generalised eigenvectors, padded");
  DeviceSums partials(context, groups * kColumns, "partial quadratic forms");
  scale.fill(0);
  y.fill(0);
  copy_elements(matrix.sqrt_degree(), 0, scale, 0, rows);

  const KernelFile kernels(context, "matrix/quadratic_form.cl",
                           fmt::format("{} -DCOLUMNS={}", lane_options(shape), kColumns));
  std::vector<double> result;
  for (std::size_t first = 0; first < static_cast<std::size_t>(count); first += kColumns) {
    const std::size_t columns = std::min(kColumns, static_cast<std::size_t>(count) - first);
    kernels.launch("quadratic_form_scale", cl::NDRange(round_up(rows, 32), columns), cl::NullRange,
                   basis, pitch, first, scale, rows, y, length);
    kernels.launch("quadratic_form", cl::NDRange(groups * shape.group), cl::NDRange(shape.group),
                   matrix.dia().values, pitch, device_upper, static_cast<int>(upper.size()), scale,
                   y, length, partials);
    const std::vector<double> parts = partials.download(groups * columns);
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::size_t g = 0; g < groups; ++g) sum += parts[c * groups + g];
      result.push_back(sum);
    }
  }
  return result;
}

BlockQuadratic::BlockQuadratic(Context& context, const Stencil& stencil, int columns,
                               MatrixForm form)
    : sets_(block_runs(context.info(), columns).sets),
      each_(form == MatrixForm::kDia ? block_runs(context.info(), columns).most_each(form) : 1),
      kernels_(context, "matrix/block_quadratic.cl",
               fmt::format("{} {} -DEACH={}", block_options(context.info(), columns),
                           matrix_options(context.info(), stencil, form), each_)) {}

void BlockQuadratic::launch(const NormalizedMatrix& matrix, const Buffer<float>& y,
                            Buffer<float>& parts) {
  const std::size_t items = round_up(matrix.rows(), each_) / each_ * sets_;
  kernels_.launch_rows("block_quadratic", items, 1, matrix,
                       static_cast<std::size_t>(matrix.grid().width), matrix.sqrt_degree(), y,
                       matrix.rows(), parts);
}

}  // namespace diacut
