#include "eigen/lobpcg/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "opencl/arguments.hpp"

namespace diacut {

Projection::Projection(Workspace& workspace)
    : workspace_(&workspace),
      products_(workspace),
      kernel_(
          workspace.context().kernel("eigen/lobpcg/projection.cl", "project",
                                     fmt::format("{} -DTILE={} -DROWS={}", workspace.options(),
                                                 workspace.tile(), workspace.combined_rows()))) {}

/// The tiles of X'W, and then those on the diagonal of X'X.
const TileList& Projection::tiles(int width) {
  const auto known = tiles_.find(width);
  if (known != tiles_.end()) return known->second;
  std::vector<Tile> tiles;
  for (int i = 0; i < products_.parts_of(0, width); ++i) {
    for (int j = 0; j < products_.parts_of(1, width); ++j) tiles.push_back({0, i, 1, j});
  }
  for (int i = 0; i < products_.parts_of(0, width); ++i) tiles.push_back({0, i, 0, i});
  return tiles_.emplace(width, products_.upload(std::move(tiles), width)).first->second;
}

void Projection::apply(const Buffer<float>& x, int width, const Segments& segments,
                       Buffer<float>& w) {
  const DeviceSums& dots = products_.launch({&x, &w}, {}, tiles(width), width, segments);
  const SegmentGroups groups = workspace_->groups(segments, workspace_->combined_rows());
  const auto columns = static_cast<std::size_t>(workspace_->columns());
  const std::size_t row_bytes = static_cast<std::size_t>(width) * sizeof(float);
  const std::size_t kept = std::clamp<std::size_t>(
      workspace_->context().info().local_memory / 2 / row_bytes, 1, columns);
  set_arguments(kernel_, x, dots, width, segments.rows, segments.pitch,
                static_cast<int>(groups.per_segment), workspace_->active().list(), w,
                cl::Local(kept * row_bytes), static_cast<int>(kept));
  const std::size_t group = workspace_->group();
  workspace_->context().launch(kernel_, cl::NDRange(groups.all * group), cl::NDRange(group));
}

}  // namespace diacut
