#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "region/affinity_graph.hpp"

namespace diacut::testing {

/// A small picture drawn in characters, one a pixel: ' ' has no data, others are classes by
/// themselves.
using Drawing = std::vector<std::string>;

/// The labels of a drawing: ' ' is 0, a is 1.
std::vector<std::int32_t> classes_of(const Drawing& drawing);

/// Labels as a drawing: 0 is ' ', 1 'a', 2 'b', ...
Drawing drawing_of(int width, const std::vector<std::int32_t>& labels);

/// The affinity of a drawing, by plain loops over a dense matrix: pixels with data within `radius`
/// are tied by 1 where the characters are equal and by `across` where they differ.
class DrawnGraph {
 public:
  explicit DrawnGraph(const Drawing& drawing, double across = 0.01, int radius = 2);

  int width() const { return width_; }
  int height() const { return height_; }
  const Eigen::MatrixXd& weights() const { return weights_; }
  Eigen::MatrixXd& weights() { return weights_; }

  /// The first `count` (or as many as there are pixels with data) exact eigenvectors of W as it is
  /// now, by a dense solver.
  Eigenvectors eigenvectors(int count) const;

  /// W as it is now.
  operator AffinityGraph() const;

 private:
  int width_;
  int height_;
  Eigen::MatrixXd weights_;
};

}  // namespace diacut::testing
