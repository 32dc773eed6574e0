#pragma once

#include <vector>

#include "eigen/lobpcg/workspace.hpp"

namespace diacut {

/// kernels/eigen/lobpcg/peaks.cl: the largest entries of columns, by which eigenvectors get their
/// signs. The workspace has to outlive the object.
class Peaks {
 public:
  explicit Peaks(Workspace& workspace);

  /// Of each column of x the entry of largest magnitude, the first of equals, of each active
  /// segment. `scratch` is overwritten: a block. Waits.
  std::vector<float> compute(const Buffer<float>& x, const Segments& segments,
                             Buffer<float>& scratch);

 private:
  Workspace* workspace_;
  Kernel of_groups_;
  Kernel of_segments_;
};

}  // namespace diacut
