#include "eigen/lobpcg/column_sums.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

namespace {
constexpr char kFile[] = "eigen/lobpcg/column_sums.cl";
}

ColumnSums::ColumnSums(Workspace& workspace)
    : workspace_(&workspace),
      sums_(workspace.context().kernel(kFile, "column_sums", workspace.options())),
      totals_(workspace.context().kernel(kFile, "column_totals", workspace.options())) {}

std::vector<double> ColumnSums::compute(const Buffer<float>& x, const Segments& segments) {
  const SegmentGroups groups = workspace_->small_groups(segments);
  set_arguments(sums_, x, segments.rows, segments.pitch, groups.chunk,
                static_cast<int>(groups.per_segment), workspace_->active().list(),
                workspace_->partials());
  const std::size_t group = workspace_->group();
  workspace_->context().launch(sums_, cl::NDRange(groups.all * group), cl::NDRange(group));
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

}  // namespace diacut
