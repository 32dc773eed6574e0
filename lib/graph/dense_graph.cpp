#include "graph/dense_graph.hpp"

#include <cmath>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// I - A, the eigenvectors to the eigenvalue 0 moved to -1.
Eigen::MatrixXd shifted_laplacian(const GraphLevel& level, const Eigen::MatrixXd& null_space) {
  const auto n = static_cast<Eigen::Index>(level.nodes());
  Eigen::MatrixXd result = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::uint32_t at = level.weights.starts[row]; at < level.weights.starts[row + 1]; ++at) {
      const std::uint32_t column = level.weights.columns[at];
      result(i, column) -= static_cast<double>(level.weights.values[at]) /
                           std::sqrt(level.degrees[row] * level.degrees[column]);
    }
  }
  result -= null_space * null_space.transpose();
  return (result + result.transpose()) / 2;
}

}  // namespace

std::vector<float> DenseGraph::inverse(std::size_t components) const {
  Eigen::VectorXd factors = values.cwiseInverse();
  factors.head(static_cast<Eigen::Index>(components)).setZero();
  const Eigen::MatrixXf inverse =
      (vectors * factors.asDiagonal() * vectors.transpose()).cast<float>();
  return {inverse.data(), inverse.data() + inverse.size()};
}

DenseGraph solve_dense(const GraphLevel& level, const std::vector<std::uint32_t>& component,
                       std::size_t components) {
  const auto n = static_cast<Eigen::Index>(level.nodes());
  const auto zeros = static_cast<Eigen::Index>(components);
  Eigen::MatrixXd roots = Eigen::MatrixXd::Zero(n, zeros);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double root = std::sqrt(level.degrees[row]);
    roots(i, 0) = root;
    if (component[row] > 0) roots(i, component[row]) = root;
  }
  Eigen::MatrixXd null_space = Eigen::HouseholderQR<Eigen::MatrixXd>(roots).householderQ() *
                               Eigen::MatrixXd::Identity(n, zeros);
  null_space.col(0) = roots.col(0).normalized();  // With its sign.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(shifted_laplacian(level, null_space));
  if (solver.info() != Eigen::Success) {
    throw NumericalError("the dense eigensolver did not converge for a graph");
  }
  DenseGraph result{solver.eigenvalues(), solver.eigenvectors()};
  result.values.head(zeros).setZero();
  result.vectors.leftCols(zeros) = null_space;
  return result;
}

std::vector<std::uint32_t> components_on(const GraphLevels& graph, std::size_t k) {
  std::vector<std::uint32_t> result = graph.component;
  for (std::size_t level = 0; level < k; ++level) {
    std::vector<std::uint32_t> coarser(graph.levels[level + 1].nodes());
    for (std::size_t i = 0; i < result.size(); ++i) {
      coarser[graph.levels[level].coarse[i]] = result[i];
    }
    result = std::move(coarser);
  }
  return result;
}

}  // namespace diacut
