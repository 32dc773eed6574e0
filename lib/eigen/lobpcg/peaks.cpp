#include "eigen/lobpcg/peaks.hpp"

#include "opencl/arguments.hpp"

namespace diacut {

namespace {
constexpr char kPeaksFile[] = "eigen/lobpcg/peaks.cl";
}

Peaks::Peaks(Workspace& workspace)
    : workspace_(&workspace),
      of_groups_(workspace.context().kernel(kPeaksFile, "group_peaks", workspace.options())),
      of_segments_(workspace.context().kernel(kPeaksFile, "segment_peaks", workspace.options())) {}

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

}  // namespace diacut
