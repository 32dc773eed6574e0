#pragma once

#include <vector>

#include "eigen/lobpcg/column_selection.hpp"
#include "eigen/lobpcg/column_sums.hpp"
#include "eigen/lobpcg/rotation.hpp"

namespace diacut {

/// kernels/eigen/lobpcg/residuals.cl: residuals M X - X diag(theta) of Ritz pairs, `product` being
/// M X. The workspace has to outlive the object.
class Residuals {
 public:
  explicit Residuals(Workspace& workspace);

  /// R = the residuals of the columns of X that are selected, `selection.width` columns; 0 where
  /// none is named and between images. Enqueues.
  void compute(const Buffer<float>& x, const Buffer<float>& product, const RitzValues& theta,
               const ColumnSelection& selection, const Segments& segments, Buffer<float>& r);
  /// The norms of all columns' residuals, of each active segment. Waits.
  std::vector<double> norms(const Buffer<float>& x, const Buffer<float>& product,
                            const RitzValues& theta, const Segments& segments);

 private:
  Workspace* workspace_;
  ColumnSums sums_;
  Kernel residuals_;
  Kernel squares_;
};

}  // namespace diacut
