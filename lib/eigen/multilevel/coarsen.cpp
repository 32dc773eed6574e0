#include "eigen/multilevel/coarsen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel.hpp"
#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "eigen/multilevel/coarsen.cl";

constexpr char kFarFile[] = "eigen/multilevel/coarsen_far.cl";

}  // namespace

LevelDegrees level_degrees(Context& context, const Batch& batch, const Buffer<float>& sqrt_degree,
                           int levels) {
  const auto images = static_cast<std::size_t>(batch.count);
  const std::size_t all = images * static_cast<std::size_t>(levels);
  const std::vector<float> roots = sqrt_degree.download();
  std::vector<float> scales(all);
  LevelDegrees result{context.allocate<float>(all, "norms of the degrees"),
                      std::vector<std::uint32_t>(all, 0)};
  constexpr int kRows = 64;  // That are summed at once: the same on any number of cores.
  const int parts = (batch.image.height + kRows - 1) / kRows;
  for (std::size_t each = 0; each < all; ++each) {
    const float* own = roots.data() + each % images * batch.segment();
    const int step = 1 << (each / images);
    std::vector<double> sums(static_cast<std::size_t>(parts));
    std::vector<std::uint32_t> counts(sums.size());
    parallel_for(parts, [&](int part) {
      const auto k = static_cast<std::size_t>(part);
      const int end = std::min((part + 1) * kRows, batch.image.height);
      for (int y = (part * kRows + step - 1) / step * step; y < end; y += step) {
        const float* row = own + static_cast<std::ptrdiff_t>(y) * batch.image.stride;
        for (int x = 0; x < batch.image.width; x += step) {
          sums[k] += static_cast<double>(row[x]) * row[x];
          counts[k] += row[x] > 0 ? 1 : 0;
        }
      }
    });
    result.counts[each] = std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
    scales[each] =
        static_cast<float>(1 / std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0)));
  }
  result.scales.upload(scales);
  return result;
}

Coarsen::Coarsen(Context& context, const Stencil& stencil, std::size_t levels, NullSpace null_space)
    : context_(&context),
      stencil_(stencil),
      null_space_(null_space),
      run_(vector_run(context.info())) {
  orphans_ = context.allocate<std::int32_t>(levels, "a flag of each grid");
  orphans_.fill(0);
  matrix_ = context.kernel(kFile, "coarsen_matrix", options(MatrixForm::kDia));
  if (run_ == 1) {
    lines_ = context.kernel(kFile, "coarsen_matrix_lines", options(MatrixForm::kDia));
  }
  if (!stencil.is_disc()) {
    take_over_ = context.kernel(kFarFile, "coarsen_far", "");
    drop_ = context.kernel(kFarFile, "coarsen_dropped", "");
    list_far();
  }
}

Stencil Coarsen::coarse_stencil(const Stencil& stencil) {
  std::vector<int> strides = {1};
  for (const int stride : stencil.strides) {
    if (stride % 2 == 0 && stride > 2) strides.push_back(stride / 2);
  }
  return strided_stencil(stencil.disc_radius, strides);
}

/// Lists the entries of the fine stencil outside of its disc: those that lead to a kept pixel, with
/// the entry of the coarse stencil that leads there, and those that lead to none.
void Coarsen::list_far() {
  const Stencil coarse = coarse_stencil(stencil_);
  std::vector<cl_int4> far;
  std::vector<cl_int2> dropped;
  for (std::size_t k = 0; k < stencil_.size(); ++k) {
    const StencilOffset& entry = stencil_.entries[k];
    if (stencil_.in_disc(entry)) continue;
    const auto diagonal = static_cast<cl_int>(k);
    const StencilOffset half{entry.dx / 2, entry.dy / 2};
    const std::size_t to = coarse.index(half);
    if (entry.dx % 2 == 0 && entry.dy % 2 == 0 && to < coarse.size()) {
      far.push_back({{static_cast<cl_int>(to), diagonal, coarse.in_disc(half) ? 1 : 0, 0}});
    } else {
      dropped.push_back({{diagonal, 0}});
    }
  }
  far_ = context_->allocate<cl_int4>(far.size(), "entries of larger strides");
  far_.upload(far);
  dropped_ = context_->allocate<cl_int2>(dropped.size(), "entries that are dropped");
  dropped_.upload(dropped);
}

std::string Coarsen::options(MatrixForm form) const {
  std::string bands = matrix_options(context_->info(), stencil_, form, MatrixPart::kDisc);
  if (!stencil_.is_disc()) {
    bands += fmt::format(" -DCOARSE_BANDS={} -DDISC_BANDS={}",
                         matrix_bands(coarse_stencil(stencil_), form, MatrixPart::kDisc),
                         matrix_bands(disc_stencil(stencil_.disc_radius), form, MatrixPart::kDisc));
  }
  if (null_space_ == NullSpace::kNone) bands += " -DLEAKING";
  return fmt::format("{} -DRUN={}", bands, run_);
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
  const auto stride = static_cast<std::size_t>(grid.stride);
  const std::size_t runs = round_up(stride, run_) / run_ * static_cast<std::size_t>(grid.height);
  context_->launch(kernel, cl::NDRange(round_up(runs, kRowGroup)), cl::NDRange(kRowGroup));
}

void Coarsen::matrix(const NormalizedMatrix& matrix, const Buffer<float>& gain,
                     Buffer<float>& coarse, std::size_t coarse_pitch) {
  const Grid grid = matrix.grid();
  const auto width = static_cast<std::size_t>((grid.width + 1) / 2);
  const auto height = static_cast<std::size_t>((grid.height + 1) / 2);
  const std::size_t runs = round_up(width, run_) / run_ * height;
  const std::size_t group = run_ == 1 ? kRowGroup : 1;
  const std::size_t later_lines = static_cast<std::size_t>(stencil_.disc_radius) + 1;
  const std::size_t disc_size = disc_stencil(stencil_.disc_radius).size();
  const bool by_lines = run_ == 1 && runs * later_lines >= kManyItems;
  Kernel& kernel = by_lines ? lines_ : matrix_;
  set_arguments(kernel, matrix.dia().values, matrix.shape().pitch, gain, grid.width, grid.height,
                grid.stride, coarse, coarse_pitch);
  const std::size_t diagonals = disc_size / 2 + 1;
  if (run_ == 1) {
    context_->launch(kernel, cl::NDRange(round_up(runs, group), by_lines ? later_lines : diagonals),
                     cl::NDRange(group, 1));
  } else {
    context_->launch(kernel, cl::NDRange(later_lines, runs), cl::NDRange(1, 1));
  }
  if (!stencil_.is_disc()) add_far(matrix, coarse, coarse_pitch);
}

void Coarsen::add_far(const NormalizedMatrix& matrix, Buffer<float>& coarse,
                      std::size_t coarse_pitch) {
  const Grid grid = matrix.grid();
  if (far_.size() > 0) {
    set_arguments(take_over_, matrix.dia().values, matrix.shape().pitch, far_, grid.width,
                  grid.height, grid.stride, coarse, coarse_pitch);
    launch_rows(*context_, take_over_, coarse_pitch, far_.size());
  }
  if (dropped_.size() == 0) return;
  const std::vector<std::int64_t>& offsets = matrix.shape().offsets;
  std::vector<cl_int2> dropped = dropped_.download();
  for (cl_int2& each : dropped) {
    each.s[1] = static_cast<cl_int>(offsets[static_cast<std::size_t>(each.s[0])]);
  }
  dropped_.upload(dropped);
  set_arguments(drop_, matrix.dia().values, matrix.shape().pitch, dropped_,
                static_cast<int>(dropped.size()), matrix.sqrt_degree(), grid.width, grid.height,
                grid.stride, coarse, coarse_pitch,
                static_cast<int>(coarse_stencil(stencil_).centre()));
  const Grid half{(grid.width + 1) / 2, (grid.height + 1) / 2, (grid.width + 1) / 2};
  launch_rows(*context_, drop_, half.rows(), 1);
}

}  // namespace diacut
