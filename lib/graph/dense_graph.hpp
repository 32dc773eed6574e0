#pragma once

#include <Eigen/Dense>
#include <vector>

#include "graph/graph_levels.hpp"

namespace diacut {

/// The normalized Laplacian I - A of a small level, solved densely in double.
struct DenseGraph {
  Eigen::VectorXd values;   ///< Ascending; as many are exactly 0 as there are components.
  Eigen::MatrixXd vectors;  ///< Orthonormal; the first one is D^1/2 of all components together.

  /// The inverse on what is orthogonal to the eigenvectors to the eigenvalue 0, row by row.
  std::vector<float> inverse(std::size_t components) const;
};

/// `component`: of each node, below `components`.
DenseGraph solve_dense(const GraphLevel& level, const std::vector<std::uint32_t>& component,
                       std::size_t components);

/// The component of each node of levels[k].
std::vector<std::uint32_t> components_on(const GraphLevels& graph, std::size_t k);

}  // namespace diacut
