#pragma once

#include <map>

#include "eigen/lobpcg/tile_products.hpp"

namespace diacut {

/// kernels/eigen/lobpcg/projection.cl: takes the columns of X out of those of W. The workspace has
/// to outlive the object.
class Projection {
 public:
  explicit Projection(Workspace& workspace);

  /// W -= X diag(X'X)^-1 X'W; columns of X that are 0 take nothing. W is `width`
  /// columns wide. Enqueues.
  void apply(const Buffer<float>& x, int width, const Segments& segments, Buffer<float>& w);

 private:
  const TileList& tiles(int width);

  Workspace* workspace_;
  TileProducts products_;
  std::map<int, TileList> tiles_;  ///< By the width of W.
  Kernel kernel_;
};

}  // namespace diacut
