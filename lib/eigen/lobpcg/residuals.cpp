#include "eigen/lobpcg/residuals.hpp"

#include <algorithm>
#include <cmath>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {
constexpr char kResidualsFile[] = "eigen/lobpcg/residuals.cl";
}

Residuals::Residuals(Workspace& workspace)
    : workspace_(&workspace),
      sums_(workspace),
      residuals_(workspace.context().kernel(kResidualsFile, "residuals", workspace.options())),
      squares_(
          workspace.context().kernel(kResidualsFile, "squared_residuals", workspace.options())) {}

void Residuals::compute(const Buffer<float>& x, const Buffer<float>& product,
                        const RitzValues& theta, const ColumnSelection& selection,
                        const Segments& segments, Buffer<float>& r) {
  set_arguments(residuals_, x, product, theta.words.words(), selection.words.words(),
                selection.width, segments.rows, segments.pitch, workspace_->active().list(), r);
  launch_gather(*workspace_, residuals_, selection.width, segments);
}

std::vector<double> Residuals::norms(const Buffer<float>& x, const Buffer<float>& product,
                                     const RitzValues& theta, const Segments& segments) {
  const SegmentGroups groups = workspace_->small_groups(segments);
  set_arguments(squares_, x, theta.words.words(), segments.rows, segments.pitch, groups.chunk,
                static_cast<int>(groups.per_segment), workspace_->active().list(), product,
                workspace_->partials());
  const std::size_t group = workspace_->group();
  workspace_->context().launch(squares_, cl::NDRange(groups.all * group), cl::NDRange(group));
  std::vector<double> norms = sums_.totals(groups);
  for (double& norm : norms) norm = std::sqrt(std::max(norm, 0.0));
  return norms;
}

}  // namespace diacut
