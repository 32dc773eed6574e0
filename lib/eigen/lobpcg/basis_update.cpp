#include "eigen/lobpcg/basis_update.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "opencl/arguments.hpp"

namespace diacut {

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
  const std::size_t group = workspace_->group();
  workspace_->context().launch(kernel_, cl::NDRange(groups.all * group), cl::NDRange(group));
}

}  // namespace diacut
