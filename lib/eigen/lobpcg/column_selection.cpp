#include "eigen/lobpcg/column_selection.hpp"

#include <utility>
#include <vector>

#include "opencl/arguments.hpp"

namespace diacut {

ColumnSelection select_columns(Workspace& workspace, std::span<const std::int32_t> columns,
                               std::span<const std::int32_t> directions) {
  std::vector<std::int32_t> both(columns.begin(), columns.end());
  both.insert(both.end(), directions.begin(), directions.end());
  return {static_cast<int>(columns.size() / workspace.active().count()),
          workspace.uploads().put(std::move(both)), columns.size()};
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

}  // namespace diacut
