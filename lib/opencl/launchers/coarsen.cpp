#include "opencl/launchers/coarsen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {
constexpr char kFile[] = "coarsen.cl";
}  // namespace

Coarsen::Coarsen(Context& context, std::span<const GridDiagonal> diagonals, std::size_t levels)
    : context_(&context),
      diagonals_(diagonals.begin(), diagonals.end()),
      run_(context.info().kind == DeviceKind::kCpu ? 16 : 1) {
  std::map<std::pair<int, int>, int> diagonal_to;  // (dy, dx) -> diagonal
  for (std::size_t d = 0; d < diagonals.size(); ++d) {
    diagonal_to[{diagonals[d].dy, diagonals[d].dx}] = static_cast<int>(d);
  }
  std::vector<cl_int4> pairs;
  std::vector<std::int32_t> begin;
  std::vector<cl_int2> targets;
  for (std::size_t target = diagonals.size() / 2; target < diagonals.size(); ++target) {
    begin.push_back(static_cast<std::int32_t>(pairs.size()));
    targets.push_back({{diagonals[target].dx, diagonals[target].dy}});
    for (std::size_t d = 0; d < diagonals.size(); ++d) {
      const auto onward = diagonal_to.find(
          {2 * diagonals[target].dy - diagonals[d].dy, 2 * diagonals[target].dx - diagonals[d].dx});
      if (onward == diagonal_to.end()) continue;
      pairs.push_back({{static_cast<cl_int>(d), onward->second, diagonals[d].dx, diagonals[d].dy}});
    }
  }
  begin.push_back(static_cast<std::int32_t>(pairs.size()));

  pairs_ = context.allocate<cl_int4>(pairs.size(), "pairs of diagonals");
  pairs_.upload(pairs);
  begin_ = context.allocate<std::int32_t>(begin.size(), "pairs of diagonals");
  begin_.upload(begin);
  targets_ = context.allocate<cl_int2>(targets.size(), "coarse diagonals");
  targets_.upload(targets);
  orphans_ = context.allocate<std::int32_t>(levels, "a flag of each grid");
  orphans_.fill(0);
  matrix_ =
      context.kernel(kFile, "coarsen_matrix",
                     fmt::format("{} -DRUN={}", matrix_options(diagonals, MatrixForm::kDia), run_));
}

cl::Kernel& Coarsen::gain_kernel(MatrixForm form) {
  cl::Kernel& kernel = gains_[form];
  if (kernel() == nullptr) {
    kernel = context_->kernel(kFile, "coarsen_gain",
                              fmt::format("{} -DRUN={}", matrix_options(diagonals_, form), run_));
  }
  return kernel;
}

void Coarsen::gains(const GridMatrix& matrix, const Buffer<float>& sqrt_degree, Buffer<float>& gain,
                    Buffer<float>& coarse_degree, int level) {
  const GridLayout& layout = matrix.layout;
  cl::Kernel& kernel = gain_kernel(matrix.form());
  set_arguments_from(kernel, set_matrix(kernel, matrix), sqrt_degree, layout.width, layout.height,
                     layout.stride, gain, coarse_degree, orphans_, level);
  context_->launch(kernel, cl::NDRange(round_up(layout.rows(), kRowGroup)), cl::NDRange(kRowGroup));
}

void Coarsen::matrix(const Buffer<float>& values, const GridLayout& layout,
                     const Buffer<float>& gain, Buffer<float>& coarse, std::size_t coarse_pitch) {
  coarse.fill(0);
  set_arguments(matrix_, values, layout.pitch, gain, layout.width, layout.height, layout.stride,
                pairs_, begin_, targets_, static_cast<int>(diagonals_.size()), coarse,
                coarse_pitch);
  const auto width = static_cast<std::size_t>((layout.width + 1) / 2);
  const auto height = static_cast<std::size_t>((layout.height + 1) / 2);
  const std::size_t runs = round_up(width, run_) / run_ * height;
  const std::size_t group = run_ == 1 ? kRowGroup : 1;
  context_->launch(matrix_, cl::NDRange(round_up(runs, group), targets_.size()),
                   cl::NDRange(group, 1));
}

}  // namespace diacut
