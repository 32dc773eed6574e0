#include "graphs.hpp"

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cmath>
#include <random>
#include <utility>

#include "graph/steps.hpp"

namespace diacut::testing {

Graph graph_of(std::size_t nodes, const std::vector<Edge>& edges) {
  std::vector<MatrixEntry> entries;
  for (const Edge& edge : edges) {
    const auto a = static_cast<std::uint32_t>(edge.a);
    const auto b = static_cast<std::uint32_t>(edge.b);
    entries.push_back({a, b, edge.weight});
    if (a != b) entries.push_back({b, a, edge.weight});
  }
  return diacut::graph_of(nodes, std::move(entries));
}

Graph path_graph(std::size_t nodes) {
  return tied_graph(nodes, [](std::size_t i, std::size_t j) { return j == i + 1; });
}

Graph grid_graph(std::size_t width, std::size_t height, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Edge> edges;
  const auto weight = [&] {
    return static_cast<float>(std::exp(-4 * static_cast<double>(random()) / 4294967296.0));
  };
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t node = y * width + x;
      if (x > 0) edges.push_back({node - 1, node, weight()});
      if (y > 0) edges.push_back({node - width, node, weight()});
    }
  }
  return graph_of(width * height, edges);
}

Graph random_graph(std::size_t nodes, std::size_t edges_each, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Edge> edges;
  for (std::size_t i = 1; i < nodes; ++i) {
    for (std::size_t k = 0; k < edges_each; ++k) {
      const float weight = 0.5F + static_cast<float>(random() % 1000) / 1000;
      edges.push_back({i, random() % i, weight});
    }
  }
  return graph_of(nodes, edges);
}

Graph joined(const Graph& a, const Graph& b) {
  Graph graph = a;
  for (std::size_t i = 1; i < b.starts.size(); ++i) {
    graph.starts.push_back(a.starts.back() + b.starts[i]);
  }
  const auto first = static_cast<std::uint32_t>(a.nodes());
  for (const std::uint32_t column : b.columns) graph.columns.push_back(first + column);
  graph.weights.insert(graph.weights.end(), b.weights.begin(), b.weights.end());
  return graph;
}

namespace {

/// The affinity, normalized: A of the normalized Laplacian I - A.
Eigen::SparseMatrix<double> normalized(const Graph& graph) {
  const auto n = static_cast<Eigen::Index>(graph.nodes());
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd degrees = Eigen::VectorXd::Zero(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (std::uint64_t at = graph.starts[i]; at < graph.starts[i + 1]; ++at) {
      entries.emplace_back(i, graph.columns[at], graph.weights[at]);
      degrees(i) += static_cast<double>(graph.weights[at]);
    }
  }
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  const Eigen::VectorXd roots = (degrees.array() > 0).select(degrees.cwiseSqrt().cwiseInverse(), 0);
  return roots.asDiagonal() * matrix * roots.asDiagonal();
}

/// The vectors as columns.
Eigen::MatrixXd columns_of(const GraphEigenvectors& eigenvectors) {
  const auto count = static_cast<Eigen::Index>(eigenvectors.vectors.size());
  Eigen::MatrixXd columns(count == 0 ? 0 : eigenvectors.vectors.front().size(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    columns.col(k) =
        Eigen::Map<const Eigen::VectorXf>(eigenvectors.vectors[k].data(), columns.rows())
            .cast<double>();
  }
  return columns;
}

}  // namespace

std::vector<double> dense_eigenvalues(const Graph& graph) {
  const Eigen::MatrixXd a = normalized(graph);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      Eigen::MatrixXd::Identity(a.rows(), a.cols()) - a, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues().begin(), solver.eigenvalues().end()};
}

double orthogonality_error(const GraphEigenvectors& eigenvectors) {
  const Eigen::MatrixXd z = columns_of(eigenvectors);
  return (z.transpose() * z - Eigen::MatrixXd::Identity(z.cols(), z.cols())).cwiseAbs().maxCoeff();
}

}  // namespace diacut::testing
