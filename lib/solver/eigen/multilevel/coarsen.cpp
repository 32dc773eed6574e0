#include "eigen/multilevel/coarsen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "matrix/kept_rows.hpp"
#include "opencl/device_sums.hpp"
#include "opencl/uploads.hpp"

namespace diacut {

namespace {

/// Elements that a work-group sums. They depend on the image alone, so that an image has the same
/// sums in every batch.
std::size_t chunk_for(std::size_t image_pixels) {
  constexpr std::size_t kLeast = 2048;
  constexpr std::size_t kMostGroups = 512;
  return std::max(kLeast, (image_pixels + kMostGroups - 1) / kMostGroups);
}

std::size_t groups_for(std::size_t image_pixels) {
  const std::size_t chunk = chunk_for(image_pixels);
  return (image_pixels + chunk - 1) / chunk;
}

std::size_t degree_group(const DeviceInfo& device) {
  if (device.kind == DeviceKind::kCpu) return 1;
  return std::bit_floor(std::clamp<std::size_t>(device.max_work_group, 1, 256));
}

KernelFile degree_kernels(Context& context) {
  return {context, "eigen/multilevel/level_degrees.cl",
          fmt::format("-DGROUP={}", degree_group(context.info()))};
}

KernelFile far_kernels(Context& context) {
  return {context, "eigen/multilevel/coarsen_far.cl", ""};
}

}  // namespace

LevelDegrees level_degrees(Context& context, const Batch& batch, const Buffer<float>& sqrt_degree,
                           int levels) {
  const std::size_t group = degree_group(context.info());
  const KernelFile kernels = degree_kernels(context);
  const Grid& image = batch.image;
  const std::size_t groups = groups_for(image.rows());
  const auto each_level = static_cast<std::size_t>(batch.count);
  const auto all_levels = static_cast<std::size_t>(levels);
  const std::size_t all = each_level * all_levels;
  auto scales = context.allocate<float>(all, "norms of the degrees");
  const auto found = context.allocate<std::uint32_t>(all, "numbers of elements with data");
  const DeviceSums squares(context, all * groups, "partial norms of the degrees");
  const auto counts =
      context.allocate<std::uint32_t>(all * groups, "partial numbers of elements with data");
  kernels.launch("level_degrees_partial", cl::NDRange(groups * group, each_level, all_levels),
                 cl::NDRange(group, 1, 1), sqrt_degree, image.width, image.height, batch.segment(),
                 chunk_for(image.rows()), squares, counts);
  kernels.launch("level_degrees_join", cl::NDRange(each_level * group, all_levels),
                 cl::NDRange(group, 1), squares, counts, static_cast<int>(groups), scales, found);
  return {std::move(scales), found.download_later()};
}

Coarsen::Coarsen(Context& context, const Stencil& stencil, std::size_t levels, NullSpace null_space)
    : context_(&context), stencil_(stencil), null_space_(null_space) {
  orphans_ = context.allocate<std::int32_t>(levels, "a flag of each grid");
  orphans_.fill(0);
  kernels(MatrixForm::kDia);
  degree_kernels(context);
  kept_row_kernels(context);
  if (!stencil.is_disc()) {
    far_kernels(context);
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

const KernelFile& Coarsen::kernels(MatrixForm form) {
  const auto found = kernels_.find(form);
  if (found != kernels_.end()) return found->second;
  const std::string options = matrix_options(context_->info(), stencil_, form, MatrixPart::kDisc) +
                              (null_space_ == NullSpace::kNone ? " -DLEAKING" : "");
  const KernelFile made(*context_, "eigen/multilevel/coarsen.cl", options);
  return kernels_.emplace(form, made).first->second;
}

void Coarsen::gains(const NormalizedMatrix& matrix, Buffer<float>& gain,
                    Buffer<float>& coarse_sqrt_degree, int level) {
  const Grid grid = matrix.grid();
  kernels(matrix.form())
      .launch_rows("coarsen_gain", grid.rows(), 1, matrix, matrix.sqrt_degree(), grid.width,
                   grid.height, gain, coarse_sqrt_degree, orphans_, level);
}

void Coarsen::matrix(const NormalizedMatrix& matrix, const Buffer<float>& gain,
                     Buffer<float>& coarse, std::size_t coarse_pitch) {
  const Grid grid = matrix.grid();
  const Stencil disc = disc_stencil(stencil_.disc_radius);
  std::vector<cl_int4> entries;
  for (const StencilOffset& entry : disc.entries) {
    entries.push_back({{entry.dx, entry.dy, static_cast<cl_int>(stencil_.index(entry)), 0}});
  }
  KeptRows rows{matrix.batch(), coarser(matrix.batch()), disc, {}};
  const Grid kept = rows.kept.grid();
  rows.values = context_->allocate<float>(rows.pitch() * disc.size(), "rows of kept pixels");
  kernels(MatrixForm::kDia)
      .launch("coarsen_rows",
              cl::NDRange(round_up(static_cast<std::size_t>(kept.width), kRowGroup),
                          static_cast<std::size_t>(kept.height), disc.size()),
              cl::NDRange(kRowGroup, 1, 1), matrix, gain, grid.width, grid.height,
              device_table(*context_, entries, "entries of a stencil"), rows.values, rows.pitch());
  multiply_kept_rows(*context_, rows, coarse_stencil(stencil_), coarse, coarse_pitch);
  if (!stencil_.is_disc()) add_far(matrix, coarse, coarse_pitch);
}

void Coarsen::add_far(const NormalizedMatrix& matrix, Buffer<float>& coarse,
                      std::size_t coarse_pitch) {
  const Grid grid = matrix.grid();
  const KernelFile kernels = far_kernels(*context_);
  kernels.launch_rows("coarsen_far", coarse_pitch, far_.size(), matrix, far_, grid.width,
                      grid.height, coarse, coarse_pitch);
  if (dropped_.size() == 0) return;
  const std::vector<std::int64_t>& offsets = matrix.shape().offsets;
  std::vector<cl_int2> dropped = dropped_.download();
  for (cl_int2& each : dropped) {
    each.s[1] = static_cast<cl_int>(offsets[static_cast<std::size_t>(each.s[0])]);
  }
  dropped_.upload(dropped);
  const Grid half{(grid.width + 1) / 2, (grid.height + 1) / 2};
  kernels.launch_rows("coarsen_dropped", half.rows(), 1, matrix, dropped_,
                      static_cast<int>(dropped.size()), matrix.sqrt_degree(), grid.width,
                      grid.height, coarse, coarse_pitch,
                      static_cast<int>(coarse_stencil(stencil_).centre()));
}

}  // namespace diacut
