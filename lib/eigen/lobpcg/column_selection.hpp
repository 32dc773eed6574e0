#pragma once

#include <span>

#include "eigen/lobpcg/workspace.hpp"

namespace diacut {

/// The columns of X that soft locking still corrects, on the device: of each active segment `width`
/// columns, one for each column of the narrow blocks R, W and P; -1 where a segment has fewer.
struct ColumnSelection {
  int width = 0;
  Uploaded words;              ///< The columns of X, and then those of P.
  std::size_t directions = 0;  ///< Where in `words` the columns of P begin.
};

/// Names the columns of X to correct, and for each its column in the narrow block P so far, -1
/// where it has none: as many for each active segment, a multiple of Workspace::narrow_columns(1).
/// Enqueues.
ColumnSelection select_columns(Workspace& workspace, std::span<const std::int32_t> columns,
                               std::span<const std::int32_t> directions);

/// kernels/eigen/lobpcg/column_selection.cl. The workspace has to outlive the object.
class ColumnGather {
 public:
  explicit ColumnGather(Workspace& workspace);

  /// out = the columns of `p`, `p_columns` wide, that `selection` names in P; 0 where it names none
  /// and between images. Enqueues.
  void apply(const ColumnSelection& selection, const Buffer<float>& p, int p_columns,
             const Segments& segments, Buffer<float>& out);

 private:
  Workspace* workspace_;
  Kernel kernel_;
};

/// Launches a kernel of gather.clh that makes a block of `width` columns.
void launch_gather(Workspace& workspace, const Kernel& kernel, int width, const Segments& segments);

}  // namespace diacut
