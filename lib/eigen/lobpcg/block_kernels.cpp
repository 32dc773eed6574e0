#include "eigen/lobpcg/block_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "eigen/lobpcg/workspace.hpp"
#include "opencl/arguments.hpp"

namespace diacut {

namespace {

/// Parts of an upload begin at multiples of so many words.
constexpr std::size_t kAligned = 16;

}  // namespace

ColumnSums::ColumnSums(Workspace& workspace)
    : workspace_(&workspace),
      sums_(workspace.context().kernel("eigen/lobpcg/column_sums.cl", "column_sums",
                                       workspace.options())),
      totals_(workspace.context().kernel("eigen/lobpcg/column_sums.cl", "column_totals",
                                         workspace.options())) {}

std::vector<double> ColumnSums::compute(const Buffer<float>& x, const Segments& segments) {
  const SegmentGroups groups = workspace_->small_groups(segments);
  set_arguments(sums_, x, segments.rows, segments.pitch, groups.chunk,
                static_cast<int>(groups.per_segment), workspace_->active().list(),
                workspace_->partials());
  workspace_->launch(sums_, groups);
  return totals(groups);
}

std::vector<double> ColumnSums::totals(const SegmentGroups& groups) {
  set_arguments(totals_, workspace_->partials(), static_cast<int>(groups.per_segment),
                workspace_->totals());
  const auto columns = static_cast<std::size_t>(workspace_->columns());
  const std::size_t count = workspace_->active().count();
  const std::size_t group = workspace_->group();
  workspace_->context().launch(totals_, cl::NDRange(columns * group, count), cl::NDRange(group, 1));
  return workspace_->totals().download(columns * count);
}

Peaks::Peaks(Workspace& workspace)
    : workspace_(&workspace),
      of_groups_(
          workspace.context().kernel("eigen/lobpcg/peaks.cl", "group_peaks", workspace.options())),
      of_segments_(workspace.context().kernel("eigen/lobpcg/peaks.cl", "segment_peaks",
                                              workspace.options())) {}

std::vector<float> Peaks::compute(const Buffer<float>& x, const Segments& segments,
                                  Buffer<float>& scratch) {
  Context& context = workspace_->context();
  const ActiveSegments& active = workspace_->active();
  const SegmentGroups groups = workspace_->large_groups(segments);
  const auto columns = static_cast<std::size_t>(workspace_->columns());
  set_arguments(of_groups_, x, segments.rows, segments.pitch, groups.chunk,
                static_cast<int>(groups.per_segment), active.list(), scratch);
  context.launch(of_groups_, cl::NDRange(round_up(columns, 8), groups.all), cl::NullRange);
  const auto peaks = context.allocate<float>(active.count() * columns, "entries of vectors");
  set_arguments(of_segments_, scratch, static_cast<int>(groups.per_segment), peaks);
  const std::size_t group = workspace_->group();
  context.launch(of_segments_, cl::NDRange(columns * group, active.count()), cl::NDRange(group, 1));
  return peaks.download();
}

BlockColumns::BlockColumns(Context& context, int columns)
    : context_(&context),
      columns_(columns),
      rows_(rows_in_local_memory(context.info(), columns)),
      group_(block_group(context.info())) {
  constexpr char kFile[] = "eigen/lobpcg/columns.cl";
  const std::string options =
      fmt::format("{} -DROWS={} -DGROUP={}", block_options(context.info(), columns), rows_, group_);
  insert_ = context.kernel(kFile, "insert_column", options);
  extract_ = context.kernel(kFile, "extract_columns", options);
}

void BlockColumns::insert(const Buffer<float>& vector, const Buffer<float>& factors,
                          std::size_t first_factor, std::size_t segments, std::size_t rows,
                          int column, Buffer<float>& x) {
  const std::size_t total = segments * rows;
  set_arguments(insert_, vector, factors, first_factor, rows, total, column, x);
  context_->launch(insert_, cl::NDRange(round_up(total, kRowGroup)), cl::NDRange(kRowGroup));
}

void BlockColumns::extract(const Buffer<float>& x, const Extraction& from, std::size_t pitch,
                           Buffer<float>& vectors) {
  const std::size_t lines = rows_ * (static_cast<std::size_t>(columns_) + 1) * sizeof(float);
  set_arguments(extract_, x, from.first, from.rows, pitch, from.columns.words(),
                static_cast<int>(from.first_column), from.count, vectors, cl::Local(lines));
  const std::size_t groups = round_up(pitch, rows_) / rows_;
  context_->launch(extract_, cl::NDRange(groups * group_), cl::NDRange(group_));
}

ColumnSelection select_columns(Workspace& workspace, std::span<const std::int32_t> columns,
                               std::span<const std::int32_t> directions) {
  std::vector<std::int32_t> both(columns.begin(), columns.end());
  both.insert(both.end(), directions.begin(), directions.end());
  return {static_cast<int>(columns.size() / workspace.active().count()),
          Uploaded(workspace.context(), both), columns.size()};
}

ColumnGather::ColumnGather(Workspace& workspace)
    : workspace_(&workspace),
      kernel_(workspace.context().kernel("eigen/lobpcg/column_selection.cl", "gather_columns",
                                         workspace.options())) {}

void ColumnGather::apply(const ColumnSelection& selection, const Buffer<float>& p, int p_columns,
                         const Segments& segments, Buffer<float>& out) {
  set_arguments(kernel_, p, p_columns, selection.words.words(),
                static_cast<int>(selection.directions), selection.width, segments.rows,
                segments.pitch, workspace_->active().list(), out);
  launch_gather(*workspace_, kernel_, selection.width, segments);
}

void launch_gather(Workspace& workspace, const Kernel& kernel, int width,
                   const Segments& segments) {
  const auto sets = static_cast<std::size_t>(width / block_vector(workspace.device(), width));
  workspace.context().launch(
      kernel, cl::NDRange(round_up(segments.pitch * sets, kRowGroup), workspace.active().count()),
      cl::NDRange(kRowGroup, 1));
}

Rotation upload_rotation(Workspace& workspace, std::span<const float> ritz_values,
                         std::span<const std::int32_t> places, std::span<const float> q) {
  const std::size_t places_at = round_up(ritz_values.size(), kAligned);
  const std::size_t rotation_at = round_up(places_at + places.size(), kAligned);
  std::vector<std::int32_t> words = words_of(ritz_values);
  words.resize(rotation_at);
  std::copy(places.begin(), places.end(), words.data() + places_at);
  const std::vector<std::int32_t> rotation = words_of(q);
  words.insert(words.end(), rotation.begin(), rotation.end());
  return {Uploaded(workspace.context(), words), places_at, rotation_at};
}

Rotation upload_rotation(Workspace& workspace, std::span<const float> ritz_values,
                         std::span<const ImageRotation> images, int blocks, int width) {
  const auto columns = static_cast<std::size_t>(workspace.columns());
  std::vector<float> q;
  std::vector<std::int32_t> places(images.size() * (columns + 1), -1);
  for (std::size_t k = 0; k < images.size(); ++k) {
    const ImageRotation& image = images[k];
    const std::size_t narrow = image.selected.size() * columns;
    auto from = image.q.begin();
    const auto add_block = [&](std::size_t values, std::size_t padded) {
      q.insert(q.end(), from, from + static_cast<std::ptrdiff_t>(values));
      q.resize(q.size() + padded - values, 0.0F);
      from += static_cast<std::ptrdiff_t>(values);
    };
    add_block(columns * columns, columns * columns);
    for (int block = 1; block < blocks; ++block) {
      add_block(narrow, static_cast<std::size_t>(width) * columns);
    }
    const auto own = std::span(places).subspan(k * (columns + 1), columns + 1);
    for (std::size_t i = 0; i < image.selected.size(); ++i) {
      own[static_cast<std::size_t>(image.selected[i])] = static_cast<std::int32_t>(i);
    }
    own[columns] = static_cast<std::int32_t>(image.selected.size());
  }
  return upload_rotation(workspace, ritz_values, places, q);
}

Residuals::Residuals(Workspace& workspace)
    : workspace_(&workspace),
      sums_(workspace),
      residuals_(workspace.context().kernel("eigen/lobpcg/residuals.cl", "residuals",
                                            workspace.options())),
      squares_(workspace.context().kernel("eigen/lobpcg/residuals.cl", "squared_residuals",
                                          workspace.options())) {}

void Residuals::compute(const Buffer<float>& x, const Buffer<float>& product, const Uploaded& theta,
                        const ColumnSelection& selection, const Segments& segments,
                        Buffer<float>& r) {
  set_arguments(residuals_, x, product, theta.words(), selection.words.words(), selection.width,
                segments.rows, segments.pitch, workspace_->active().list(), r);
  launch_gather(*workspace_, residuals_, selection.width, segments);
}

std::vector<double> Residuals::norms(const Buffer<float>& x, const Buffer<float>& product,
                                     const Uploaded& theta, const Segments& segments) {
  const SegmentGroups groups = workspace_->small_groups(segments);
  set_arguments(squares_, x, theta.words(), segments.rows, segments.pitch, groups.chunk,
                static_cast<int>(groups.per_segment), workspace_->active().list(), product,
                workspace_->partials());
  workspace_->launch(squares_, groups);
  std::vector<double> norms = sums_.totals(groups);
  for (double& norm : norms) norm = std::sqrt(std::max(norm, 0.0));
  return norms;
}

RayleighQuotients::RayleighQuotients(Workspace& workspace, const NormalizedMatrix& matrix)
    : workspace_(&workspace),
      sums_(workspace),
      divide_(workspace.context().kernel("eigen/lobpcg/rayleigh_quotients.cl", "divide_rows",
                                         workspace.options())),
      quadratic_(workspace.context(), matrix.stencil(), workspace.columns(), matrix.form()) {}

std::vector<double> RayleighQuotients::compute(const NormalizedMatrix& matrix,
                                               const Buffer<float>& x, Buffer<float>& y,
                                               Buffer<float>& parts) {
  const std::size_t rows = matrix.rows();
  set_arguments(divide_, x, matrix.sqrt_degree(), rows, y);
  workspace_->context().launch(divide_, cl::NDRange(round_up(rows * workspace_->sets(), kRowGroup)),
                               cl::NDRange(kRowGroup));
  quadratic_.launch(matrix, y, parts);
  const Batch& batch = matrix.batch();
  return sums_.compute(parts, {batch.image.rows(), batch.segment()});
}

BasisUpdate::BasisUpdate(Workspace& workspace)
    : workspace_(&workspace),
      kernel_(workspace.context().kernel(
          "eigen/lobpcg/basis_update.cl", "basis_update",
          fmt::format("{} -DROWS={} -DAT_ONCE={}", workspace.options(), workspace.combined_rows(),
                      std::min<std::size_t>(workspace.combined_rows(), workspace.cpu() ? 8 : 4)))) {
}

void BasisUpdate::apply(const Rotation& rotation, Buffer<float>& x, const Buffer<float>* w,
                        const Buffer<float>* p, int width, const Segments& segments,
                        Buffer<float>& next_p) {
  const int blocks = 1 + (w != nullptr ? 1 : 0) + (p != nullptr ? 1 : 0);
  const std::size_t rows = workspace_->combined_rows();
  const auto side = static_cast<std::size_t>(workspace_->columns() + (blocks - 1) * width);
  const SegmentGroups groups = workspace_->groups(segments, rows);
  set_arguments(kernel_, x, w != nullptr ? *w : x, p != nullptr ? *p : x, next_p,
                rotation.words.words(), static_cast<int>(rotation.places),
                static_cast<int>(rotation.rotation), blocks, width, segments.rows, segments.pitch,
                static_cast<int>(groups.per_segment), workspace_->active().list(),
                cl::Local(rows * side * sizeof(float)));
  workspace_->launch(kernel_, groups);
}

}  // namespace diacut
