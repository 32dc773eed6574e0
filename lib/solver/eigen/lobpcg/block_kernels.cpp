#include "eigen/lobpcg/block_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace diacut {

namespace {

/// Parts of an upload begin at multiples of so many words.
constexpr std::size_t kAligned = 16;

constexpr char kColumnSums[] = "eigen/lobpcg/column_sums.cl";
constexpr char kPeaks[] = "eigen/lobpcg/peaks.cl";
constexpr char kResiduals[] = "eigen/lobpcg/residuals.cl";
constexpr char kRayleighQuotients[] = "eigen/lobpcg/rayleigh_quotients.cl";

/// Launches a kernel of kernels/eigen/lobpcg/residuals.cl that makes a block of `width` columns.
template <class... Arguments>
void launch_gather(Workspace& workspace, const char* name, int width, const Segments& segments,
                   const Arguments&... arguments) {
  const auto sets = static_cast<std::size_t>(width / block_vector(workspace.device(), width));
  workspace.kernels(kResiduals)
      .launch_rows(name, segments.pitch * sets, workspace.active().count(), arguments...);
}

}  // namespace

std::vector<double> column_sums(Workspace& workspace, const Buffer<float>& x,
                                const Segments& segments) {
  const SegmentGroups groups = workspace.small_groups(segments);
  workspace.launch(kColumnSums, "column_sums", groups, x, segments.rows, segments.pitch,
                   groups.chunk, static_cast<int>(groups.per_segment), workspace.active().list(),
                   workspace.partials());
  return column_totals(workspace, groups);
}

std::vector<double> column_totals(Workspace& workspace, const SegmentGroups& groups) {
  workspace.launch_columns(kColumnSums, "column_totals", workspace.partials(),
                           static_cast<int>(groups.per_segment), workspace.totals());
  return workspace.totals().download(static_cast<std::size_t>(workspace.columns()) *
                                     workspace.active().count());
}

Arriving<float> column_peaks(Workspace& workspace, const Buffer<float>& x, const Segments& segments,
                             Buffer<float>& scratch) {
  const ActiveSegments& active = workspace.active();
  const SegmentGroups groups = workspace.large_groups(segments);
  const auto columns = static_cast<std::size_t>(workspace.columns());
  workspace.kernels(kPeaks).launch("group_peaks", cl::NDRange(round_up(columns, 8), groups.all),
                                   cl::NullRange, x, segments.rows, segments.pitch, groups.chunk,
                                   static_cast<int>(groups.per_segment), active.list(), scratch);
  const auto peaks =
      workspace.context().allocate<float>(active.count() * columns, "entries of vectors");
  workspace.launch_columns(kPeaks, "segment_peaks", scratch, static_cast<int>(groups.per_segment),
                           peaks);
  return peaks.download_later();
}

BlockColumns::BlockColumns(Context& context, int columns)
    : columns_(columns),
      rows_(rows_in_local_memory(context.info(), columns)),
      group_(block_group(context.info())),
      kernels_(context, "eigen/lobpcg/columns.cl",
               fmt::format("{} -DROWS={} -DGROUP={}", block_options(context.info(), columns), rows_,
                           group_)) {}

void BlockColumns::insert(const Buffer<float>& vector, const Buffer<float>& factors,
                          std::size_t first_factor, std::size_t segments, std::size_t rows,
                          int column, Buffer<float>& x) {
  const std::size_t total = segments * rows;
  kernels_.launch_rows("insert_column", total, 1, vector, factors, first_factor, rows, total,
                       column, x);
}

void BlockColumns::extract(const Buffer<float>& x, const Extraction& from, std::size_t pitch,
                           Buffer<float>& vectors) {
  const std::size_t lines = rows_ * (static_cast<std::size_t>(columns_) + 1) * sizeof(float);
  const std::size_t groups = round_up(pitch, rows_) / rows_;
  kernels_.launch("extract_columns", cl::NDRange(groups * group_), cl::NDRange(group_), x,
                  from.first, from.rows, pitch, from.columns.words(),
                  static_cast<int>(from.first_column), from.count, vectors, cl::Local(lines));
}

ColumnSelection select_columns(Workspace& workspace, std::span<const std::int32_t> columns,
                               std::span<const std::int32_t> directions) {
  std::vector<std::int32_t> both(columns.begin(), columns.end());
  both.insert(both.end(), directions.begin(), directions.end());
  return {static_cast<int>(columns.size() / workspace.active().count()),
          Uploaded(workspace.context(), both), columns.size()};
}

void gather_columns(Workspace& workspace, const ColumnSelection& selection, const Buffer<float>& p,
                    int p_columns, const Segments& segments, Buffer<float>& out) {
  launch_gather(workspace, "gather_columns", selection.width, segments, p, p_columns,
                selection.words.words(), static_cast<int>(selection.directions), selection.width,
                segments.rows, segments.pitch, workspace.active().list(), out);
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

void ritz_residuals(Workspace& workspace, const Buffer<float>& x, const Buffer<float>& product,
                    const Uploaded& theta, const ColumnSelection& selection,
                    const Segments& segments, Buffer<float>& r) {
  launch_gather(workspace, "residuals", selection.width, segments, x, product, theta.words(),
                selection.words.words(), selection.width, segments.rows, segments.pitch,
                workspace.active().list(), r);
}

std::vector<double> ritz_residual_norms(Workspace& workspace, const Buffer<float>& x,
                                        const Buffer<float>& product, const Uploaded& theta,
                                        const Segments& segments) {
  const SegmentGroups groups = workspace.small_groups(segments);
  workspace.launch(kResiduals, "squared_residuals", groups, x, theta.words(), segments.rows,
                   segments.pitch, groups.chunk, static_cast<int>(groups.per_segment),
                   workspace.active().list(), product, workspace.partials());
  std::vector<double> norms = column_totals(workspace, groups);
  for (double& norm : norms) norm = std::sqrt(std::max(norm, 0.0));
  return norms;
}

RayleighQuotients::RayleighQuotients(Workspace& workspace, const NormalizedMatrix& matrix)
    : workspace_(&workspace),
      quadratic_(workspace.context(), matrix.stencil(), workspace.columns(), matrix.form()) {
  workspace.kernels(kRayleighQuotients);
  workspace.kernels(kColumnSums);
}

std::vector<double> RayleighQuotients::compute(const NormalizedMatrix& matrix,
                                               const Buffer<float>& x, Buffer<float>& y,
                                               Buffer<float>& parts) {
  const std::size_t rows = matrix.rows();
  workspace_->kernels(kRayleighQuotients)
      .launch_rows("divide_rows", rows * workspace_->sets(), 1, x, matrix.sqrt_degree(), rows, y);
  quadratic_.launch(matrix, y, parts);
  const Batch& batch = matrix.batch();
  return column_sums(*workspace_, parts, {batch.image.rows(), batch.segment()});
}

void update_basis(Workspace& workspace, const Rotation& rotation, Buffer<float>& x,
                  const Buffer<float>* w, const Buffer<float>* p, int width,
                  const Segments& segments, Buffer<float>& next_p) {
  const int blocks = 1 + (w != nullptr ? 1 : 0) + (p != nullptr ? 1 : 0);
  const std::size_t rows = workspace.combined_rows();
  const auto side = static_cast<std::size_t>(workspace.columns() + (blocks - 1) * width);
  const SegmentGroups groups = workspace.groups(segments, rows);
  workspace.launch("eigen/lobpcg/basis_update.cl", "basis_update", groups, x, w != nullptr ? *w : x,
                   p != nullptr ? *p : x, next_p, rotation.words.words(),
                   static_cast<int>(rotation.places), static_cast<int>(rotation.rotation), blocks,
                   width, segments.rows, segments.pitch, static_cast<int>(groups.per_segment),
                   workspace.active().list(), cl::Local(rows * side * sizeof(float)));
}

}  // namespace diacut
