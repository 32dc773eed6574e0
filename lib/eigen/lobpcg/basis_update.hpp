#pragma once

#include "eigen/lobpcg/rotation.hpp"

namespace diacut {

/// kernels/eigen/lobpcg/basis_update.cl: the next Ritz vectors and directions. The workspace has to
/// outlive the object.
class BasisUpdate {
 public:
  explicit BasisUpdate(Workspace& workspace);

  /// P' = W Q_W + P Q_P, of which `next_p` gets the columns that the rotation has places for, and
  /// zeros in its other columns; then X = X Q_X + P'. W, P and `next_p` are `width` columns wide; P
  /// is null in a basis [X W], and W too in a basis X, which leaves `next_p` alone. What is between
  /// images stays as it is. Enqueues.
  void apply(const Rotation& rotation, Buffer<float>& x, const Buffer<float>* w,
             const Buffer<float>* p, int width, const Segments& segments, Buffer<float>& next_p);

 private:
  Workspace* workspace_;
  Kernel kernel_;
};

}  // namespace diacut
