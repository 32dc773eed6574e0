#pragma once

#include <vector>

#include "eigen/lobpcg/workspace.hpp"

namespace diacut {

/// kernels/eigen/lobpcg/column_sums.cl: sums of the columns of a block. The workspace has to
/// outlive the object.
class ColumnSums {
 public:
  explicit ColumnSums(Workspace& workspace);

  /// The sum of each column of x, of each active segment. Waits.
  std::vector<double> compute(const Buffer<float>& x, const Segments& segments);
  /// Those sums of which the workspace's partials() hold the groups' parts. Waits.
  std::vector<double> totals(const SegmentGroups& groups);

 private:
  Workspace* workspace_;
  Kernel sums_;
  Kernel totals_;
};

}  // namespace diacut
